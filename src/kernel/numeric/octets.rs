//! Eight numbers of single precision at a time, on whatever machine: as [`lanes`](super::lanes), with half the digits and twice the speed.

/// Numbers in a vector.
pub(crate) const OCTET: usize = 8;

/// Arithmetic on vectors of eight numbers. Each operation is rounded once.
pub(crate) trait Octet: Copy {
    /// Eight numbers.
    type Vector: Copy;

    /// The same number eight times.
    fn splat(self, x: f32) -> Self::Vector;

    /// Eight numbers from memory.
    fn load(self, x: &[f32; OCTET]) -> Self::Vector;

    /// Eight numbers to memory.
    fn store(self, x: Self::Vector) -> [f32; OCTET];

    /// a + b.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// a − b.
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// a · b.
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// a · b + c.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;

    /// 0 where x < 0, else x. A NaN stays: it has to reach the loss, where it is seen.
    fn rectify(self, x: Self::Vector) -> Self::Vector;

    /// x where h > 0, else 0.
    fn gate(self, h: Self::Vector, x: Self::Vector) -> Self::Vector;
}

/// Work written over [`Octet`].
pub(crate) trait OctetWork {
    /// What it answers.
    type Output;

    /// Does it. Implementations are `#[inline(always)]`, else they are compiled for the oldest machine.
    fn run<O: Octet>(self, octet: O) -> Self::Output;
}

/// Does the work with AVX2 where the machine has it. Digits are the same either way.
#[inline]
pub(crate) fn dispatch_octets<W: OctetWork>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = pulp::x86::V3::try_new() {
        return pulp::Simd::vectorize(v3, OnV3(v3, work));
    }
    work.run(Portable)
}

/// Arrays of eight. Compilers turn them into what the target has.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Octet for Portable {
    type Vector = [f32; OCTET];

    #[inline(always)]
    fn splat(self, x: f32) -> Self::Vector {
        [x; OCTET]
    }

    #[inline(always)]
    fn load(self, x: &[f32; OCTET]) -> Self::Vector {
        *x
    }

    #[inline(always)]
    fn store(self, x: Self::Vector) -> [f32; OCTET] {
        x
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|l| a[l] + b[l])
    }

    #[inline(always)]
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|l| a[l] - b[l])
    }

    #[inline(always)]
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|l| a[l] * b[l])
    }

    #[inline(always)]
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        std::array::from_fn(|l| a[l].mul_add(b[l], c[l]))
    }

    #[inline(always)]
    fn rectify(self, x: Self::Vector) -> Self::Vector {
        x.map(|x| if x < 0.0 { 0.0 } else { x })
    }

    #[inline(always)]
    fn gate(self, h: Self::Vector, x: Self::Vector) -> Self::Vector {
        std::array::from_fn(|l| if h[l] > 0.0 { x[l] } else { 0.0 })
    }
}

/// Work to be done inside a function compiled for AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
struct OnV3<W>(pulp::x86::V3, W);

#[cfg(target_arch = "x86_64")]
impl<W: OctetWork> pulp::NullaryFnOnce for OnV3<W> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.1.run(self.0)
    }
}

#[cfg(target_arch = "x86_64")]
impl Octet for pulp::x86::V3 {
    type Vector = pulp::f32x8;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::Vector {
        self.splat_f32x8(x)
    }

    #[inline(always)]
    fn load(self, x: &[f32; OCTET]) -> Self::Vector {
        pulp::cast(*x)
    }

    #[inline(always)]
    fn store(self, x: Self::Vector) -> [f32; OCTET] {
        pulp::cast(x)
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        self.add_f32x8(a, b)
    }

    #[inline(always)]
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        self.sub_f32x8(a, b)
    }

    #[inline(always)]
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        self.mul_f32x8(a, b)
    }

    #[inline(always)]
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.mul_add_f32x8(a, b, c)
    }

    #[inline(always)]
    fn rectify(self, x: Self::Vector) -> Self::Vector {
        // In this order the instruction answers x unless 0 > x, so that a NaN stays.
        self.max_f32x8(self.splat_f32x8(0.0), x)
    }

    #[inline(always)]
    fn gate(self, h: Self::Vector, x: Self::Vector) -> Self::Vector {
        let zero = self.splat_f32x8(0.0);
        self.select_f32x8(self.cmp_gt_f32x8(h, zero), x, zero)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on the same numbers, among them the special ones.
    struct Everything;

    impl OctetWork for Everything {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run<O: Octet>(self, o: O) -> Vec<u32> {
            let a = o.load(&[0.1, -0.3, 0.0, f32::INFINITY, 1e-30, -7.5, 3.0, -0.0]);
            let b = o.load(&[3.0, 1.0 / 3.0, -f32::MIN_POSITIVE, -2.0, 1e-20, 0.7, -0.1, 5.0]);
            let c = o.splat(-0.3);
            let all = [
                o.add(a, b),
                o.sub(a, b),
                o.mul(a, b),
                o.mul_add(a, b, c),
                o.rectify(a),
                o.rectify(b),
                o.gate(a, b),
                o.gate(b, a),
                o.gate(o.splat(-0.0), b),
            ];
            all.into_iter().flat_map(|v| o.store(v).map(f32::to_bits)).collect()
        }
    }

    #[test]
    fn vectors_of_this_machine_and_portable_ones_agree_bit_for_bit() {
        assert_eq!(dispatch_octets(Everything), Everything.run(Portable));
    }

    #[test]
    fn a_nan_passes_the_rectifier_of_this_machine() {
        struct Rectify;
        impl OctetWork for Rectify {
            type Output = [f32; OCTET];

            #[inline(always)]
            fn run<O: Octet>(self, o: O) -> [f32; OCTET] {
                o.store(o.rectify(o.splat(f32::NAN)))
            }
        }
        assert!(dispatch_octets(Rectify).iter().all(|x| x.is_nan()));
        assert_eq!(Portable.rectify([-1.5; OCTET]), [0.0; OCTET]);
    }
}
