//! Four numbers at a time, on whatever machine.
//!
//! The kernels are written once, over [`Quad`]. Four rows always go together, with a fused multiply–add, also where the
//! machine has shorter vectors or none: then the work is slower, and its digits are the same.

/// Numbers in a vector.
pub const LANES: usize = 4;

/// Arithmetic on vectors of one kind, work written over it, and the two machines it runs on: written once for both kinds.
macro_rules! vectors {
    (
        $(#[$about:meta])*
        $arithmetic:ident, $work:ident, $dispatch:ident: [$number:ty; $count:ident] as $vector:ty,
        $splat:ident, $add:ident, $mul:ident, $mul_add:ident, $max:ident, $cmp_gt:ident, $select:ident;
        also { $($also:tt)* } portable { $($portable:tt)* } machine { $($machine:tt)* }
    ) => {
        $(#[$about])*
        pub trait $arithmetic: Copy {
            /// As many numbers as go together.
            type Vector: Copy;

            /// The same number in all places.
            fn splat(self, x: $number) -> Self::Vector;

            /// Numbers from memory.
            fn load(self, x: &[$number; $count]) -> Self::Vector;

            /// Numbers to memory.
            fn store(self, x: Self::Vector) -> [$number; $count];

            /// a + b.
            fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

            /// a · b.
            fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

            /// a · b + c.
            fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;

            /// 0 where x < 0, else x. A NaN stays: it has to reach the loss, where it is seen.
            fn rectify(self, x: Self::Vector) -> Self::Vector;

            /// x where h > 0, else 0.
            fn gate(self, h: Self::Vector, x: Self::Vector) -> Self::Vector;

            $($also)*
        }

        #[doc = concat!("Work written over [`", stringify!($arithmetic), "`].")]
        pub trait $work {
            /// What it answers.
            type Output;

            /// Does it. Implementations are `#[inline(always)]`, else they are compiled for the oldest machine.
            fn run<V: $arithmetic>(self, vectors: V) -> Self::Output;
        }

        /// Does the work with AVX2 where the machine has it. Digits are the same either way.
        #[inline]
        pub fn $dispatch<W: $work>(work: W) -> W::Output {
            #[cfg(target_arch = "x86_64")]
            if let Some(v3) = pulp::x86::V3::try_new() {
                return pulp::Simd::vectorize(v3, OnV3(v3, work));
            }
            work.run(Portable)
        }

        /// Arrays. Compilers turn them into what the target has.
        #[derive(Clone, Copy)]
        pub struct Portable;

        impl $arithmetic for Portable {
            type Vector = [$number; $count];

            #[inline(always)]
            fn splat(self, x: $number) -> Self::Vector {
                [x; $count]
            }

            #[inline(always)]
            fn load(self, x: &[$number; $count]) -> Self::Vector {
                *x
            }

            #[inline(always)]
            fn store(self, x: Self::Vector) -> [$number; $count] {
                x
            }

            #[inline(always)]
            fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                std::array::from_fn(|l| a[l] + b[l])
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

            $($portable)*
        }

        /// Work to be done inside a function compiled for AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        struct OnV3<W>(pulp::x86::V3, W);

        #[cfg(target_arch = "x86_64")]
        impl<W: $work> pulp::NullaryFnOnce for OnV3<W> {
            type Output = W::Output;

            #[inline(always)]
            fn call(self) -> W::Output {
                self.1.run(self.0)
            }
        }

        #[cfg(target_arch = "x86_64")]
        impl $arithmetic for pulp::x86::V3 {
            type Vector = $vector;

            #[inline(always)]
            fn splat(self, x: $number) -> Self::Vector {
                self.$splat(x)
            }

            #[inline(always)]
            fn load(self, x: &[$number; $count]) -> Self::Vector {
                pulp::cast(*x)
            }

            #[inline(always)]
            fn store(self, x: Self::Vector) -> [$number; $count] {
                pulp::cast(x)
            }

            #[inline(always)]
            fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                self.$add(a, b)
            }

            #[inline(always)]
            fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                self.$mul(a, b)
            }

            #[inline(always)]
            fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
                self.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn rectify(self, x: Self::Vector) -> Self::Vector {
                // In this order the instruction answers x unless 0 > x, so that a NaN stays.
                self.$max(self.$splat(0.0), x)
            }

            #[inline(always)]
            fn gate(self, h: Self::Vector, x: Self::Vector) -> Self::Vector {
                let zero = self.$splat(0.0);
                self.$select(self.$cmp_gt(h, zero), x, zero)
            }

            $($machine)*
        }
    };
}
pub(super) use vectors;

vectors! {
    /// Arithmetic on vectors of four numbers. Each operation is rounded once.
    Quad, Work, dispatch: [f64; LANES] as pulp::f64x4,
    splat_f64x4, add_f64x4, mul_f64x4, mul_add_f64x4, max_f64x4, cmp_gt_f64x4, select_f64x4;
    also {
        /// The sum of the four, the first and third, the second and fourth, then both.
        #[inline(always)]
        fn fold(self, x: Self::Vector) -> f64 {
            let [a, b, c, d] = self.store(x);
            (a + c) + (b + d)
        }
    }
    portable {}
    machine {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on the same numbers, among them the special ones.
    struct Everything;

    impl Work for Everything {
        type Output = Vec<u64>;

        #[inline(always)]
        fn run<Q: Quad>(self, quad: Q) -> Vec<u64> {
            let tiny = f64::MIN_POSITIVE;
            let a = quad.load(&[0.1, -0.3, 0.0, f64::INFINITY]);
            let b = quad.load(&[3.0, 1.0 / 3.0, -tiny, -2.0]);
            let c = quad.splat(-0.3);
            let mut bits: Vec<u64> = [
                quad.add(a, b),
                quad.mul(a, b),
                quad.mul_add(a, b, c),
                quad.rectify(a),
                quad.rectify(b),
                quad.gate(a, b),
                quad.gate(b, a),
                quad.gate(quad.splat(-0.0), b),
            ]
            .into_iter()
            .flat_map(|v| quad.store(v).map(f64::to_bits))
            .collect();
            bits.push(quad.fold(b).to_bits());
            bits
        }
    }

    #[test]
    fn vectors_of_this_machine_and_portable_ones_agree_bit_for_bit() {
        assert_eq!(dispatch(Everything), Everything.run(Portable));
    }

    #[test]
    fn the_portable_operations_are_those_documented() {
        let quad = Portable;
        let x = [-1.5, 0.0, 2.0, f64::NAN];
        assert_eq!(quad.rectify(x)[..3], [0.0, 0.0, 2.0]);
        assert!(quad.rectify(x)[3].is_nan());
        assert_eq!(quad.gate(x, [1.0, 2.0, 3.0, 4.0]), [0.0, 0.0, 3.0, 0.0]);
        assert_eq!(quad.add([1.0, 2.0, 3.0, 4.0], [0.5; 4]), [1.5, 2.5, 3.5, 4.5]);
        // Fused: 0.1 · 10 is 1 when rounded, and a little more when not.
        assert_eq!(quad.mul_add([0.1; 4], [10.0; 4], [-1.0; 4]), [2.0f64.powi(-54); 4]);
        // (2⁵³ + 1) + (1 − 2⁵³): in any other order a 1 is lost or kept otherwise.
        assert_eq!(quad.fold([2.0f64.powi(53), 1.0, 1.0, -(2.0f64.powi(53))]), 1.0);
        assert_eq!(quad.fold([1.0, 2.0, 4.0, 8.0]), 15.0);
    }

    #[test]
    fn a_nan_passes_the_rectifier_of_this_machine() {
        struct Rectify;
        impl Work for Rectify {
            type Output = [f64; LANES];

            #[inline(always)]
            fn run<Q: Quad>(self, quad: Q) -> [f64; LANES] {
                quad.store(quad.rectify(quad.splat(f64::NAN)))
            }
        }
        assert!(dispatch(Rectify).iter().all(|x| x.is_nan()));
    }
}
