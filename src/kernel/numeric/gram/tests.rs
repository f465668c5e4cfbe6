use super::*;
use crate::numeric::tolerance::{ROUNDING, close};
use crate::numeric::{Stream, fill_standard_normal, least_squares};

fn integers(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 29 + i * i * 7) % 23) as f64 - 9.0).collect()
}

fn gram_of(rows: &[f64], features: usize) -> Gram {
    let mut gram = Gram::new(features);
    gram.add_rows(rows);
    gram
}

#[test]
fn the_matrix_is_the_sum_of_products() {
    for features in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20] {
        for n in [0, 1, 5, 127, 128, 129, 300] {
            let rows = integers(n * features);
            let mut gram = gram_of(&rows, features);
            assert_eq!((gram.rows(), gram.features()), (n, features));
            for times in [1.0, 2.0] {
                for i in 0..features {
                    for j in 0..features {
                        let sum: f64 = rows.chunks(features).map(|row| row[i] * row[j]).sum();
                        assert_eq!(gram.matrix()[i * features + j], times * sum, "{n} × {features}: {i}, {j}");
                    }
                }
                gram.add_rows(&rows);
            }
        }
    }
}

#[test]
fn merging_adds_rows() {
    let rows = integers(50 * 3);
    let mut merged = gram_of(&rows[..60], 3);
    merged.merge(&gram_of(&rows[60..], 3));
    let whole = gram_of(&rows, 3);
    assert_eq!((merged.rows(), merged.matrix()), (50, whole.matrix()));
}

#[test]
#[should_panic(expected = "one set of features")]
fn matrices_of_other_features_do_not_merge() {
    Gram::new(2).merge(&Gram::new(3));
}

#[test]
#[should_panic(expected = "no features")]
fn a_gram_matrix_has_features() {
    Gram::new(0);
}

#[test]
#[should_panic(expected = "5 numbers in rows of 2")]
fn broken_rows_are_refused() {
    Gram::new(2).add_rows(&[1.0; 5]);
}

#[test]
fn two_by_two_has_the_eigenvalues_of_the_quadratic() {
    // G = [4 2; 2 10]; with the diagonal halved twice, [1 ½; ½ 2½].
    let factor = gram_of(&[2.0, 1.0, 0.0, 3.0], 2).factor().unwrap();
    let root = 3.25f64.sqrt();
    let (least, most) = ((3.5 - root) / 2.0, (3.5 + root) / 2.0);
    assert!(close(factor.condition(), most / least, ROUNDING), "{}", factor.condition());
}

#[test]
fn the_condition_does_not_see_units() {
    let small = gram_of(&[2.0, 1.0, 0.0, 3.0], 2).factor().unwrap();
    let mixed = gram_of(&[2.0 * 1024.0, 1.0 / 4096.0, 0.0, 3.0 / 4096.0], 2).factor().unwrap();
    assert!(close(small.condition(), mixed.condition(), ROUNDING));
}

#[test]
fn solutions_undo_the_product() {
    for features in [1, 3, 6] {
        let mut rows = vec![0.0; 40 * features];
        fill_standard_normal(&mut Stream::new(6).rng(), &mut rows);
        rows.iter_mut().step_by(features).for_each(|x| *x = 50.0 * *x + 3.0);
        let gram = gram_of(&rows, features);
        let x: Vec<f64> = integers(2 * features);
        let mut rhs: Vec<f64> = x
            .chunks(features)
            .flat_map(|x| {
                gram.matrix()
                    .chunks(features)
                    .map(|row| row.iter().zip(x).map(|(g, x)| g * x).sum::<f64>())
                    .collect::<Vec<f64>>()
            })
            .collect();
        let factor = gram.factor().unwrap();
        factor.solve_in_place(&mut rhs);
        for (found, x) in rhs.iter().zip(&x) {
            assert!(close(*found, *x, factor.condition() * ROUNDING), "{found} for {x}");
        }
    }
}

#[test]
#[should_panic(expected = "3 numbers in right-hand sides of 2")]
fn broken_right_hand_sides_are_refused() {
    gram_of(&[1.0, 0.0, 0.0, 1.0], 2).factor().unwrap().solve_in_place(&mut [0.0; 3]);
}

#[test]
fn the_gram_path_agrees_with_qr() {
    let (n, features) = (5000, 7);
    let mut rows = vec![0.0; n * features];
    fill_standard_normal(&mut Stream::new(12).rng(), &mut rows);
    for row in rows.chunks_mut(features) {
        row[0] = 1.0;
        row[6] = 0.9 * row[5] + 0.1 * row[6];
    }
    let y: Vec<f64> = rows.chunks(features).map(|row| row[1].sin() + row[6] * row[2]).collect();
    let mut solution: Vec<f64> =
        (0..features).map(|j| rows.chunks(features).zip(&y).map(|(row, y)| row[j] * y).sum()).collect();
    let factor = gram_of(&rows, features).factor().unwrap();
    factor.solve_in_place(&mut solution);
    let qr = least_squares(&rows, &y, features, 1).unwrap();
    for (by_gram, by_qr) in solution.iter().zip(&qr.coefficients) {
        assert!(close(*by_gram, *by_qr, factor.condition() * ROUNDING), "{by_gram} and {by_qr}");
    }
}

#[test]
fn extreme_units_are_solved() {
    for unit in [1e-140, 1e140] {
        let factor = gram_of(&[2.0 * unit, unit, 0.0, 3.0 * unit], 2).factor().unwrap();
        // 4·1 + 2·2 = 8 and 2·1 + 10·2 = 22: the solution is (1, 2).
        let mut rhs = [8.0 * unit * unit, 22.0 * unit * unit];
        factor.solve_in_place(&mut rhs);
        assert!(close(rhs[0], 1.0, ROUNDING) && close(rhs[1], 2.0, ROUNDING), "{rhs:?} at {unit}");
    }
}

#[test]
fn dependent_columns_are_refused_by_place() {
    let refusal = |rows: &[f64], features| gram_of(rows, features).factor().unwrap_err();
    let repeated: Vec<f64> = integers(20).iter().flat_map(|x| [*x, x * x, *x, 1.0]).collect();
    assert_eq!(refusal(&repeated, 4), GramRefusal::NotPositiveDefinite { column: 2 });
    assert_eq!(refusal(&[1.0, 0.0, 2.0, 0.0], 2), GramRefusal::NotPositiveDefinite { column: 1 });
    assert_eq!(refusal(&[1.0, 2.0, f64::NAN, 1.0], 2), GramRefusal::NotPositiveDefinite { column: 0 });
    assert_eq!(refusal(&[1.0, 1e200, 2.0, 1e200], 2), GramRefusal::NotPositiveDefinite { column: 1 });
    // The zero matrix, of no rows.
    assert_eq!(refusal(&[], 3), GramRefusal::NotPositiveDefinite { column: 0 });
}

#[test]
fn the_limit_on_the_condition_is_kept_on_both_sides() {
    // Columns (1, 0) and (1, d): eigenvalues near 2 and d²/2, so the condition is near 4/d² = 2²⁶ at d = 2⁻¹².
    let with = |exponent: f64| gram_of(&[1.0, 1.0, 0.0, exponent.exp2()], 2).factor();
    let limit = tolerance::GRAM_CONDITION;
    let accepted = with(-11.9).unwrap();
    assert!(accepted.condition() < limit && limit < 1.2 * accepted.condition());
    assert!(matches!(with(-12.1), Err(GramRefusal::IllConditioned { condition })
        if limit < condition && condition < 1.2 * limit));
    assert!(matches!(with(-20.0), Err(GramRefusal::IllConditioned { .. })));
    assert_eq!(with(-27.0).unwrap_err(), GramRefusal::NotPositiveDefinite { column: 1 });
}
