//! Eight numbers of single precision at a time, on whatever machine: as [`lanes`](super::lanes), with half the digits and twice the speed.

use super::lanes::vectors;

/// Numbers in a vector.
pub const OCTET: usize = 8;

vectors! {
    /// Arithmetic on vectors of eight numbers. Each operation is rounded once.
    Octet, OctetWork, dispatch_octets: [f32; OCTET] as pulp::f32x8,
    splat_f32x8, add_f32x8, mul_f32x8, mul_add_f32x8, max_f32x8, cmp_gt_f32x8, select_f32x8;
    also {
        /// a − b.
        fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    }
    portable {
        #[inline(always)]
        fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            std::array::from_fn(|l| a[l] - b[l])
        }
    }
    machine {
        #[inline(always)]
        fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            self.sub_f32x8(a, b)
        }
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
