use super::*;
use crate::numeric::tolerance::{ROUNDING, close};
use crate::numeric::{Stream, fill_standard_normal};

fn all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!(close(*a, *b, tolerance), "{found:?} for {expected:?}");
    }
}

fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut out = vec![0.0; count];
    fill_standard_normal(&mut Stream::new(seed).rng(), &mut out);
    out
}

#[test]
fn a_line_through_four_points_is_the_textbook_one() {
    // x = 0, 1, 2, 5 and y = 1, 3, 2, 8: slope Sxy/Sxx = 19/14, intercept 3.5 − 2·19/14, residual 29 − 361/14.
    let design = [1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 5.0];
    let fit = least_squares(&design, &[1.0, 3.0, 2.0, 8.0], 2, 1).unwrap();
    all_close(&fit.coefficients, &[3.5 - 38.0 / 14.0, 19.0 / 14.0], ROUNDING);
    all_close(&fit.residual_sum_of_squares, &[29.0 - 361.0 / 14.0], ROUNDING);
    assert_eq!((fit.rank, fit.features, fit.outputs, fit.is_full_rank()), (2, 2, 1, true));
}

#[test]
fn outputs_are_blocks_and_each_has_its_residual() {
    let design = [1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 5.0];
    let targets = [1.0, 7.0, 3.0, 5.0, 2.0, 3.0, 8.0, -3.0];
    let fit = least_squares(&design, &targets, 2, 2).unwrap();
    all_close(fit.output(0), &[3.5 - 38.0 / 14.0, 19.0 / 14.0], ROUNDING);
    all_close(fit.output(1), &[7.0, -2.0], ROUNDING);
    all_close(&fit.coefficients, &[fit.output(0), fit.output(1)].concat(), 0.0);
    all_close(&fit.residual_sum_of_squares, &[29.0 - 361.0 / 14.0, 0.0], ROUNDING);
}

#[test]
fn residuals_of_many_blocks_are_orthogonal_to_the_design() {
    let (n, features) = (5003, 4);
    let design = normals(n * features, 1);
    let y: Vec<f64> = design.chunks(features).map(|row| row[0] * row[1] + 3.0 * row[2] - 1.0).collect();
    let fit = least_squares(&design, &y, features, 1).unwrap();
    let predict = |row: &[f64]| row.iter().zip(&fit.coefficients).map(|(x, b)| x * b).sum::<f64>();
    let residuals: Vec<f64> = design.chunks(features).zip(&y).map(|(row, y)| y - predict(row)).collect();
    for j in 0..features {
        let product: f64 = design.chunks(features).zip(&residuals).map(|(row, r)| row[j] * r).sum();
        assert!(product.abs() < n as f64 * ROUNDING, "column {j}: {product}");
    }
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    assert!(close(fit.residual_sum_of_squares[0] / squares, 1.0, ROUNDING));
    assert!(fit.condition < 2.0, "{}", fit.condition);
}

#[test]
fn proportional_columns_share_the_coefficient_in_the_callers_units() {
    // y = 7a and columns a, ca: the shortest solution is 7 (1, c)/(1 + c²).
    for c in [1.0, 3.0, -0.25, 1e5, 1e-5] {
        let a = [2.0, -1.0, 0.5, 4.0];
        let design: Vec<f64> = a.iter().flat_map(|x| [*x, c * x]).collect();
        let y: Vec<f64> = a.iter().map(|x| 7.0 * x).collect();
        let fit = least_squares(&design, &y, 2, 1).unwrap();
        assert_eq!((fit.rank, fit.is_full_rank(), fit.condition), (1, false, f64::INFINITY));
        all_close(&fit.coefficients, &[7.0 / (1.0 + c * c), 7.0 * c / (1.0 + c * c)], 4.0 * ROUNDING);
    }
}

#[test]
fn deficient_solutions_are_optimal_and_orthogonal_to_the_kernel() {
    // Columns u, v, w, u + 2v, 3w − u, in units a thousandfold apart; two outputs.
    let units = [1.0, 1000.0, 0.01, 1.0, 10.0];
    let base = normals(3 * 40, 2);
    let design: Vec<f64> = base
        .chunks(3)
        .flat_map(|p| [p[0], p[1], p[2], p[0] + 2.0 * p[1], 3.0 * p[2] - p[0]])
        .zip(units.into_iter().cycle())
        .map(|(x, unit)| x * unit)
        .collect();
    let targets = normals(40 * 2, 3);
    let fit = least_squares(&design, &targets, 5, 2).unwrap();
    assert_eq!(fit.rank, 3);
    let kernel = [[1.0, 2.0 / 1000.0, 0.0, -1.0, 0.0], [-1.0, 0.0, 300.0, 0.0, -0.1]];
    for k in 0..2 {
        let b = fit.output(k);
        let length = b.iter().map(|b| b * b).sum::<f64>().sqrt();
        for null in &kernel {
            let product: f64 = null.iter().zip(b).map(|(a, b)| a * b).sum();
            assert!(product.abs() < 300.0 * length * ROUNDING, "output {k}: {product}");
        }
        let residuals: Vec<f64> =
            (0..40).map(|i| targets[2 * i + k] - (0..5).map(|j| design[5 * i + j] * b[j]).sum::<f64>()).collect();
        for j in 0..5 {
            let product: f64 = (0..40).map(|i| design[5 * i + j] * residuals[i]).sum();
            assert!(product.abs() < units[j] * 40.0 * ROUNDING, "output {k}, column {j}: {product}");
        }
        let squares: f64 = residuals.iter().map(|r| r * r).sum();
        assert!(close(fit.residual_sum_of_squares[k], squares, ROUNDING), "output {k}");
    }
}

#[test]
fn one_row_is_solved_along_itself() {
    let fit = least_squares(&[1.0, 2.0, 2.0], &[9.0], 3, 1).unwrap();
    all_close(&fit.coefficients, &[1.0, 2.0, 2.0], ROUNDING);
    assert_eq!(fit.rank, 1);
    assert!(fit.residual_sum_of_squares[0] < ROUNDING);
}

#[test]
fn columns_of_zeros_get_no_coefficient() {
    let fit = least_squares(&[1.0, 0.0, 2.0, 0.0, 2.0, 0.0], &[3.0, 6.0, 0.0], 2, 1).unwrap();
    all_close(&fit.coefficients, &[15.0 / 9.0, 0.0], ROUNDING);
    assert_eq!(fit.rank, 1);
    let nothing = least_squares(&[0.0; 6], &[3.0, 4.0, 0.0], 2, 1).unwrap();
    assert_eq!((nothing.rank, nothing.coefficients.as_slice()), (0, [0.0, 0.0].as_slice()));
    all_close(&nothing.residual_sum_of_squares, &[25.0], ROUNDING);
}

#[test]
fn rank_is_decided_beyond_the_units_and_the_number_of_rows() {
    let n = 50_000;
    let columns = normals(n * 3, 4);
    let design = |offset: f64| -> Vec<f64> {
        columns.chunks(3).flat_map(|p| [p[0], 1e6 * p[1], p[0] + 1e-6 * p[1] + offset * p[2]]).collect()
    };
    let y: Vec<f64> = columns.chunks(3).map(|p| p[2]).collect();
    let rank = |offset| least_squares(&design(offset), &y, 3, 1).unwrap().rank;
    assert_eq!(rank(0.0), 2);
    assert_eq!(rank(1e-15), 2);
    assert_eq!(rank(1e-10), 3);
}

#[test]
fn extreme_units_are_no_obstacle() {
    let (x, y) = ([1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 5.0], [1.0, 3.0, 2.0, 8.0]);
    let design: Vec<f64> = x.chunks(2).flat_map(|row| [row[0] * 1e-290, row[1] * 1e250]).collect();
    let targets: Vec<f64> = y.iter().map(|y| y * 1e-40).collect();
    let fit = least_squares(&design, &targets, 2, 1).unwrap();
    assert!(close(fit.coefficients[0] / 1e250, 3.5 - 38.0 / 14.0, ROUNDING));
    assert!(close(fit.coefficients[1] * 1e290, 19.0 / 14.0, ROUNDING));
    assert!(close(fit.residual_sum_of_squares[0] * 1e80, 29.0 - 361.0 / 14.0, ROUNDING));
}

#[test]
fn the_condition_is_that_of_the_pivots() {
    // Columns (1, 0) and (1, d): pivots √(1 + d²) and d/√(1 + d²).
    let condition = |d: f64| least_squares(&[1.0, 1.0, 0.0, d], &[1.0, 1.0], 2, 1).unwrap().condition;
    assert!(close(condition(0.01), 100.01, ROUNDING));
    assert!(close(condition(0.2), 5.2, ROUNDING));
    let scaled = least_squares(&[512.0, 1.0, 0.0, 0.01], &[1.0, 1.0], 2, 1).unwrap();
    assert!(close(scaled.condition, 100.01, ROUNDING));
}

#[test]
fn each_impossible_problem_is_named() {
    let x = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(least_squares(&x, &[1.0], 0, 1), Err(LeastSquaresError::Empty { features: 0, outputs: 1 }));
    assert_eq!(least_squares(&x, &[1.0], 2, 0), Err(LeastSquaresError::Empty { features: 2, outputs: 0 }));
    let shape = |features, targets, outputs| LeastSquaresError::Shape { design: 4, features, targets, outputs };
    assert_eq!(least_squares(&x, &[1.0], 3, 1), Err(shape(3, 1, 1)));
    assert_eq!(least_squares(&x, &[1.0; 3], 2, 1), Err(shape(2, 3, 1)));
    assert_eq!(least_squares(&x, &[1.0; 2], 2, 2), Err(shape(2, 2, 2)));
    assert_eq!(least_squares(&[], &[], 2, 1), Err(LeastSquaresError::NoRows));
}

#[test]
fn a_number_that_is_not_finite_is_found_where_it_is() {
    let mut design = vec![1.0; 3000];
    design[2990] = f64::INFINITY;
    assert_eq!(
        least_squares(&design, &[1.0; 1000], 3, 1),
        Err(LeastSquaresError::NonFiniteDesign { row: 996, column: 2, value: f64::INFINITY })
    );
    let mut design = [1.0; 9];
    design[3] = f64::INFINITY;
    assert_eq!(
        least_squares(&design, &[1.0; 3], 3, 1),
        Err(LeastSquaresError::NonFiniteDesign { row: 1, column: 0, value: f64::INFINITY })
    );
    let mut targets = vec![0.0; 8];
    targets[5] = f64::NEG_INFINITY;
    assert_eq!(
        least_squares(&[1.0; 4], &targets, 1, 2),
        Err(LeastSquaresError::NonFiniteTarget { row: 2, column: 1, value: f64::NEG_INFINITY })
    );
    targets[5] = f64::NAN;
    assert!(matches!(
        least_squares(&[1.0; 4], &targets, 1, 2),
        Err(LeastSquaresError::NonFiniteTarget { row: 2, column: 1, value }) if value.is_nan()
    ));
}

#[test]
fn scales_are_powers_of_two_whose_inverse_is_a_number() {
    let cases = [(1.0, 1.0), (2.0, 0.5), (3.9, 0.5), (0.75, 2.0), (0.0, 1.0), (1e-3, 1024.0)];
    for (x, scale) in cases {
        assert_eq!(power_of_two_reciprocal(x), scale, "at {x}");
    }
    assert_eq!(power_of_two_reciprocal(f64::MAX), 2f64.powi(-1022));
    assert_eq!(power_of_two_reciprocal(f64::from_bits(1)), 2f64.powi(1022));
    assert_eq!(power_of_two_reciprocal(f64::MIN_POSITIVE), 2f64.powi(1022));
}

#[test]
fn repeated_summed_and_shifted_columns_are_found_at_every_size() {
    for (n, features) in [(4, 3), (10, 4), (50, 11), (400, 6), (5000, 9), (60_000, 5), (300, 60)] {
        for kind in 0..3 {
            let mut design = normals(n * features, 40 + kind);
            for row in design.chunks_mut(features) {
                let last = features - 1;
                match kind {
                    0 => row[last] = row[0],
                    1 => row[last] = row[..last].iter().sum(),
                    _ => (row[0], row[last]) = (1.0, 0.1 + 0.7 * row[1]),
                }
            }
            let fit = least_squares(&design, &normals(n, 50), features, 1).unwrap();
            assert_eq!(fit.rank, features - 1, "{n} × {features}, kind {kind}");
        }
    }
}

#[test]
fn columns_of_any_size_are_fitted_alike() {
    // y = 3e-250 · (1e250 x₁) − 2e270 · (1e-270 x₂), exactly.
    let points = [[1.0, 2.0], [2.0, -1.0], [3.0, 0.5], [-1.0, 4.0]];
    let design: Vec<f64> = points.iter().flat_map(|x| [1e250 * x[0], 1e-270 * x[1]]).collect();
    let targets: Vec<f64> = points.iter().map(|x| 3.0 * x[0] - 2.0 * x[1]).collect();
    let fit = least_squares(&design, &targets, 2, 1).unwrap();
    assert_eq!(fit.rank, 2);
    for (found, expected) in fit.coefficients.iter().zip([3e-250, -2e270]) {
        assert!((found / expected - 1.0).abs() < 1e-14, "{found:e} and {expected:e}");
    }
}
