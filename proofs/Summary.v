(** * What each headline result assumes

    One line per labelled theorem, file by file.  "Closed under the global context" means: nothing at all.  The others rest on
    the axioms behind Coq's classical real numbers; [check] compares them with its list. *)

From Counterfair Require Import
  Bijections Algorithm1 Fairness Strict FairLaws Perturbation ValueIteration Margin FastRate LemmaP Stationary FairValue
  Gained Couplings RandomRules TiesCost Chain Rungs NotMarkov Hoeffding
  Certificate Refutations Witnesses Clock Vectors.

(** Bijections: alg:cf:1 for any noise that the data determine *)
Print Assumptions Bijections.determined_noise_is_read_off.
Print Assumptions Bijections.reached_histories_have_noise.
Print Assumptions Bijections.carry_is_exact.
Print Assumptions Bijections.carry_keeps_the_facts.
Print Assumptions Bijections.carry_is_augmentation.

(** Algorithm1: alg:cf:1 and asm:unique *)
Print Assumptions Algorithm1.algorithm1_is_the_additive_case.
Print Assumptions Algorithm1.noise_is_a_function_of_the_history.
Print Assumptions Algorithm1.every_history_has_its_noise.
Print Assumptions Algorithm1.algorithm1_is_exact.
Print Assumptions Algorithm1.algorithm1_is_augmentation.
Print Assumptions Algorithm1.algorithm1_component_is_counterfactual.
Print Assumptions Algorithm1.algorithm1_keeps_the_facts.

(** Fairness: thm:cf *)
Print Assumptions Fairness.reading_all_worlds_is_fair.
Print Assumptions Fairness.fair_iff_reads_all_worlds.
Print Assumptions Fairness.fair_iff_blind_beyond_all_worlds.
Print Assumptions Fairness.reading_carried_worlds_is_fair.
Print Assumptions Fairness.every_fair_rule_reads_carried_worlds.
Print Assumptions Fairness.reading_algorithm1_is_fair.
Print Assumptions Fairness.every_fair_rule_reads_algorithm1.

(** Strict: def:cf_policy_strict *)
Print Assumptions Strict.strictly_fair_is_fair.
Print Assumptions Strict.strictly_fair_iff_reads_noise_alone.
Print Assumptions Strict.replay_is_strictly_fair.
Print Assumptions Strict.replay_takes_the_same_actions.
Print Assumptions Strict.strict_fairness_costs_nothing.

(** FairLaws: thm:cf for rules that randomise *)
Print Assumptions FairLaws.fair_in_law_by_weights.
Print Assumptions FairLaws.fair_in_law_iff_reads_all_worlds.
Print Assumptions FairLaws.equal_lists_are_too_narrow.

(** Perturbation: alg:cf:1 under wrong means *)
Print Assumptions Perturbation.counterfactual_state_error.
Print Assumptions Perturbation.counterfactual_reward_error.
Print Assumptions Perturbation.weighted_reward_error.
Print Assumptions Perturbation.state_bound_is_attained.
Print Assumptions Perturbation.reward_bound_is_attained.
Print Assumptions Perturbation.wrong_means_break_invariance.

(** ValueIteration: alg:cf:2 and thm:regret *)
Print Assumptions ValueIteration.errors_propagate.
Print Assumptions ValueIteration.fitted_iteration_error.
Print Assumptions ValueIteration.bellman_contracts.
Print Assumptions ValueIteration.Q_star_is_fixed.
Print Assumptions ValueIteration.Q_star_is_unique.
Print Assumptions ValueIteration.fitted_iteration_from_zero.
Print Assumptions ValueIteration.V_star_is_an_upper_bound.
Print Assumptions ValueIteration.V_star_is_attained.
Print Assumptions ValueIteration.regret_on_true_states.
Print Assumptions ValueIteration.regret_on_estimated_states.
Print Assumptions ValueIteration.regret_of_fitted_iteration.

(** Margin: thm:cf_metric *)
Print Assumptions Margin.greedy_is_stable.
Print Assumptions Margin.step_loss_at_small_gaps.
Print Assumptions Margin.a_step_can_lose_more_than_the_gap.
Print Assumptions Margin.unfairness_is_controlled.
Print Assumptions Margin.unfairness_under_margin.
Print Assumptions Margin.unfairness_by_the_learned_gap.
Print Assumptions Margin.exact_states_are_treated_alike.
Print Assumptions Margin.constant_two_is_sharp.

(** FastRate: thm:regret under asm:margin *)
Print Assumptions FastRate.performance_difference.
Print Assumptions FastRate.regret_counts_small_gaps.
Print Assumptions FastRate.fast_rate.

(** LemmaP: least squares under perturbation *)
Print Assumptions LemmaP.cauchy_schwarz.
Print Assumptions LemmaP.perturbed_least_squares.
Print Assumptions LemmaP.perturbed_least_squares_uniform.
Print Assumptions LemmaP.perturbed_prediction.

(** Stationary: thm:sr_policy *)
Print Assumptions Stationary.value_is_augmented_value.
Print Assumptions Stationary.finite_horizon_optimum.
Print Assumptions Stationary.fair_rules_have_values.
Print Assumptions Stationary.stationary_optimum.
Print Assumptions Stationary.supremum_over_fair_rules.
Print Assumptions Stationary.finite_supremum_over_fair_rules.
Print Assumptions Stationary.algorithm1_returns_the_augmented_state.
Print Assumptions Stationary.additive_stationary_optimum.

(** FairValue: Theorem 3'', what an almost fair rule is worth *)
Print Assumptions FairValue.gained_by_unfairness.
Print Assumptions FairValue.fair_value_at_most_optimum.
Print Assumptions FairValue.every_rule_has_values.
Print Assumptions FairValue.value_of_any_rule.
Print Assumptions FairValue.fair_rules_gain_nothing.
Print Assumptions FairValue.fair_value_is_earned_by_fair_rules.
Print Assumptions FairValue.fair_value_at_least.
Print Assumptions FairValue.regret_of_the_deployed_rule.
Print Assumptions FairValue.alike_where_the_gap_is_large.
Print Assumptions FairValue.unfair_weight_by_small_gaps.
Print Assumptions FairValue.fast_rate_of_the_fair_value.
Print Assumptions FairValue.cf_metric_is_controlled.

(** Gained: Theorem 3'' under a margin that counts ties *)
Print Assumptions Gained.gained_at_most_disagreement.
Print Assumptions Gained.gained_if_disagreement_is_rare.
Print Assumptions Gained.gained_under_margin_in_n_steps.
Print Assumptions Gained.gained_under_margin.
Print Assumptions Gained.gained_by_estimated_states.
Print Assumptions Gained.regret_of_the_deployed_rule_under_margin.

(** Couplings: two laws on one draw *)
Print Assumptions Couplings.least_parting_is_total_variation.
Print Assumptions Couplings.total_variation_is_the_largest_difference.

(** RandomRules: Theorem 3'' for rules that randomise *)
Print Assumptions RandomRules.gained_by_unfairness_of_draws.
Print Assumptions RandomRules.random_fair_value_at_most_optimum.
Print Assumptions RandomRules.every_random_rule_has_values.
Print Assumptions RandomRules.value_of_any_random_rule.
Print Assumptions RandomRules.random_fair_value_is_earned_by_fair_rules.
Print Assumptions RandomRules.gained_at_most_disagreement_of_draws.
Print Assumptions RandomRules.fair_random_rules_gain_nothing.
Print Assumptions RandomRules.draws_part_with_total_variation.
Print Assumptions RandomRules.gained_at_most_total_variation.
Print Assumptions RandomRules.certain_rules_are_a_special_case.

(** TiesCost: without a margin J - V~ does not shrink *)
Print Assumptions TiesCost.ties_cost_or_earn_a_constant.
Print Assumptions TiesCost.ties_cost_or_earn_a_constant_in_n_steps.
Print Assumptions TiesCost.deployed_regret_is_not_of_order_of_the_error.

(** Chain: from means to value and unfairness *)
Print Assumptions Chain.from_means_to_value_and_unfairness.

(** Rungs: the ladder of noise models *)
Print Assumptions Rungs.rungs_are_bijections.
Print Assumptions Rungs.counterfactuals_of_the_rungs.
Print Assumptions Rungs.stationary_optimum_on_every_rung.
Print Assumptions Rungs.additive_method_with_unequal_spreads.

(** NotMarkov: what alg:cf:1 returns with estimated means *)
Print Assumptions NotMarkov.estimated_states_are_not_markov.
Print Assumptions NotMarkov.true_means_keep_these_states_markov.

(** Hoeffding and Certificate: unfairness from data *)
Print Assumptions Hoeffding.hoeffding.
Print Assumptions Certificate.finite_sample_certificate.
Print Assumptions Certificate.parity_gap_bounds_unfairness.
Print Assumptions Certificate.parity_bounds_are_sharp.

(** Refutations: printed inequalities that are false *)
Print Assumptions Refutations.D4_is_false.
Print Assumptions Refutations.D6_is_false.
Print Assumptions Refutations.D9_is_false.
Print Assumptions Refutations.D14_is_false.
Print Assumptions Refutations.D13_needs_coverage.
Print Assumptions Refutations.D19_is_false.
Print Assumptions Refutations.D3_is_false.
Print Assumptions Refutations.D22_term_3_is_false.
Print Assumptions Refutations.D16_fails_as_L_vanishes.
Print Assumptions Refutations.D16_is_not_homogeneous_in_rewards.
Print Assumptions Refutations.ties_break_the_unfairness_bound.
Print Assumptions Refutations.E12_is_false.
Print Assumptions Refutations.E12_holds_at_alpha_one.
Print Assumptions Refutations.E8_is_false.
Print Assumptions Refutations.E9_is_false.
Print Assumptions Refutations.E10_is_false.

(** Witnesses: coverage of the Gram matrix *)
Print Assumptions Witnesses.D7_is_false.
Print Assumptions Witnesses.hadamard_rows_refute_D7.
Print Assumptions Witnesses.a_frozen_chain_refutes_independence.

(** Clock: stationary kernels are not enough *)
Print Assumptions Clock.kernels_are_stationary.
Print Assumptions Clock.stationary_rules_earn_at_most.
Print Assumptions Clock.counting_steps_earns_more.
Print Assumptions Clock.a_stationary_rule_earns_the_bound.

(** Vectors: the terms behind vectors.json *)
Print Assumptions Vectors.exact_vectors_are_the_true_counterfactuals.
Print Assumptions Vectors.exact_scale_vectors_are_the_true_counterfactuals.
Print Assumptions Vectors.scale_vectors_keep_the_facts.
