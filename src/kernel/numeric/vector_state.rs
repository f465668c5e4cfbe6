//! What faer's products leave behind in the processor, and how to clear it.

use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;

/// Marks the upper halves of the vector registers as unused, after a product of faer.
///
/// faer's matrix products return without that mark, and on x86 every libm call that follows (exp, tanh) then runs 10–25
/// times slower. A function that uses wide registers is compiled to clear them on return, so touching one is enough.
pub fn clear_upper_vector_state() {
    Arch::new().dispatch(TouchWideRegister);
}

struct TouchWideRegister;

impl WithSimd for TouchWideRegister {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let wide = black_box([1.0f64; 4]);
        black_box(wide.map(|x| x + x));
    }
}
