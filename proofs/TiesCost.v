(** * Without a margin, J - V~ does not shrink with the error of the means

    Levels 0 and 1 with probability 1/2 each.  The state is its noise, S = U in {-1, 0, 1} with probabilities .1, .8, .1, drawn
    afresh at every step, with the same law at both levels: all true means are 0.  The reward is
    R^z(s, a) = (2 a - 1) (s - (2 z - 1)), the states being clipped to [-1, 1] to keep rewards bounded everywhere.
    The means are estimated as (eta, -eta), and the deployed rule is greedy on Q* itself, at the states that alg:cf:1 returns.

    Those states are off by 2 |eta| at most.  Four persons in five are at s = 0, where the fair reward is 0 for both actions: a tie.
    There level 0 sees -eta and level 1 sees eta.  For every 0 < eta < 1 each takes the action that costs it 1, and

      J*_CF = V~ = (1/5) / (1 - gamma),     J = -(3/5) / (1 - gamma).

    For every -1 < eta < 0 each takes the action that pays it 1: J = 1 / (1 - gamma), above the best fair value.  So J - V~ has either
    sign, and no bound on J*_CF - J that vanishes with the errors of the states and of f can hold: a margin that counts ties is
    needed ([Gained]). *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import Model Algorithm1 Finite ValueIteration Perturbation Margin Stationary FairValue.
Import ListNotations.
Open Scope R_scope.

Lemma geometric_limit g m : 0 <= g < 1 -> Un_cv (fun n => m * sum n (fun t => g ^ t)) (m / (1 - g)).
Proof.
  intros Hg. apply Un_cv_ext with (fun n => m / (1 - g) * (1 - g ^ n)).
  - intros n. rewrite <- geometric. field. lra.
  - replace (m / (1 - g)) with (m / (1 - g) * (1 - 0)) at 1 by ring.
    apply (CV_mult (fun _ => m / (1 - g)) (fun n => 1 - g ^ n)); [apply constant_limit |].
    apply (CV_minus (fun _ => 1) (fun n => g ^ n)); [apply constant_limit |].
    intros eps Heps. destruct (pow_lt_1_zero g) with (y := eps) as [N HN]; [rewrite Rabs_pos_eq; lra | exact Heps |].
    exists N. intros n Hn. unfold R_dist. rewrite Rminus_0_r. apply HN. exact Hn.
Qed.

(** Values whose reward depends on the newest noise alone, when that noise is drawn afresh. *)
Lemma afresh {W : Type} (law : list (R * R)) (gamma : R) (newest : W -> R) (e : R -> R) (go : W -> R -> W) (v : nat -> W -> R) :
  is_law law -> (forall w, v O w = 0) ->
  (forall n w, v (S n) w = e (newest w) + gamma * expect law (fun i => v n (go w i))) ->
  (forall w i, newest (go w i) = i) ->
  forall n (h : R -> W), (forall i, newest (h i) = i) ->
  expect law (fun i => v n (h i)) = expect law e * sum n (fun t => gamma ^ t).
Proof.
  intros Hlaw H0 HS Hgo n. induction n as [| n IH]; intros h Hh.
  - rewrite (expect_ext law _ (fun _ => 0)) by (intros; apply H0). rewrite expect_const by exact Hlaw. simpl. ring.
  - rewrite (expect_ext law _ (fun i => e i + gamma * (expect law e * sum n (fun t => gamma ^ t)))).
    + rewrite (expect_plus law e), expect_const, sum_first, geometric_shift by exact Hlaw. simpl. ring.
    + intros i. rewrite HS, Hh, (IH (go (h i))) by (intros; apply Hgo). reflexivity.
Qed.

Definition reward_of_state (s : R) (a z : bool) : R := sign a * (clip s - sign z).

Definition true_means : means bool bool real_line real_line :=
  @Build_means bool bool real_line real_line (fun _ => 0) (fun _ _ _ => 0) reward_of_state.

(** The estimates: eta at level 0, -eta at level 1, at every step; rewards are known. *)
Definition tilt (eta : R) (z : bool) : R := if z then - eta else eta.
Definition tilted_means (eta : R) : means bool bool real_line real_line :=
  @Build_means bool bool real_line real_line (tilt eta) (fun _ _ => tilt eta) reward_of_state.

Definition half_half : list (R * bool) := [(1/2, false); (1/2, true)].
Definition mostly_zero : list (R * R) := [(1/10, -1); (8/10, 0); (1/10, 1)].

Lemma half_half_law : is_law half_half.
Proof. split; [repeat (apply Forall_cons; [simpl; lra |]); apply Forall_nil | simpl; lra]. Qed.

Lemma mostly_zero_law : is_law mostly_zero.
Proof. split; [repeat (apply Forall_cons; [simpl; lra |]); apply Forall_nil | simpl; lra]. Qed.

(** The structural equations of asm:additive with the true means; the noise of a reward is 0. *)
Definition world_1 (_ : bool) (u : R) : R := 0 + u.
Definition world_S (_ : bool) (_ : R) (_ : bool) (u : R) : R := 0 + u.
Definition world_R (z : bool) (s : R) (a : bool) (u : R) : R := reward_of_state s a z + u.

Lemma worlds_are_additive : stationary_model world_1 world_S world_R = additive true_means.
Proof. reflexivity. Qed.

Definition no_noise (_ : R) : R := 0.
Definition as_drawn (i : R) : R := i.

Lemma world_R_bounded z s a i : Rabs (world_R z s a (no_noise i)) <= 2.
Proof.
  unfold world_R, no_noise, reward_of_state, sign. pose proof (clip_bounds s). apply Rabs_le. destruct a, z; lra.
Qed.

Lemma two_nonneg : 0 <= 2.
Proof. lra. Qed.

Section TiesCost.
  Variables gamma eta : R.
  Hypothesis discount : 0 <= gamma < 1.
  Hypothesis tilted : -1 < eta < 1 /\ eta <> 0.

  Local Notation M := (augmented world_S world_R half_half mostly_zero no_noise as_drawn two_actions gamma 2
                         half_half_law mostly_zero_law discount two_nonneg world_R_bounded).
  Local Notation K := (augmented_memory world_1 world_S world_R half_half mostly_zero no_noise as_drawn two_actions gamma 2
                         half_half_law mostly_zero_law discount two_nonneg world_R_bounded).
  Local Notation model := (stationary_model world_1 world_S world_R).
  Local Notation world := (simulate model).

  (** What alg:cf:1 with the estimated means returns as the current state of every level. *)
  Definition estimated_states (h : history bool R bool R) (k : bool) : R :=
    current (estimated_world (S := real_line) (R := real_line) (tilted_means eta) (fst h) k (snd h)).

  (** The deployed rule: greedy on the true Q*, at the estimated states. *)
  Definition tilted_rule (h : history bool R bool R) : bool := greedy two_actions (Q_star M (estimated_states h)).

  Local Notation J_tilted := (J_deployed world_1 world_S world_R half_half mostly_zero mostly_zero no_noise as_drawn gamma tilted_rule).
  Local Notation V_tilted := (fair_value world_1 world_S world_R half_half mostly_zero mostly_zero no_noise as_drawn two_actions
                                gamma 2 half_half_law mostly_zero_law discount two_nonneg world_R_bounded tilted_rule).
  Local Notation J_star := (J_star_CF world_1 world_S world_R half_half mostly_zero mostly_zero no_noise as_drawn two_actions
                              gamma 2 half_half_law mostly_zero_law discount two_nonneg world_R_bounded).
  Local Notation read := (reads world_1 world_S world_R tilted_rule).

  (** The noise of the newest state. *)
  Definition newest (w : trajectory R bool R) : R := current w.

  Lemma world_is_noise k w : current (world k w) = newest w.
  Proof. destruct w; unfold newest; simpl; unfold world_1, world_S; simpl; ring. Qed.

  Lemma estimates_are_shifted z h k : estimated_states (z, h) k = current h - tilt eta z + tilt eta k.
  Proof. destruct h; reflexivity. Qed.

  (** The middle of the clipped states: the fair reward of action 1. *)
  Definition middle (x : bool -> R) : R := (clip (x false) + clip (x true)) / 2.

  Definition later : R := expect mostly_zero (fun i => V_star M (fun _ => 0 + i)).

  Lemma Q_of_the_tie x a : Q_star M x a = sign a * middle x + gamma * later.
  Proof.
    rewrite <- Q_star_is_fixed. unfold bellman, later. simpl mdp_law. simpl mdp_gamma. simpl mdp_rew. simpl mdp_next.
    rewrite <- (expect_scale mostly_zero gamma), <- (expect_const mostly_zero (sign a * middle x) mostly_zero_law), <- expect_plus.
    apply expect_ext. intros i. unfold V_star. simpl mdp_actions. f_equal.
    unfold half_half, world_R, no_noise, middle, reward_of_state, sign. cbn [expect]. destruct a; field.
  Qed.

  Lemma V_of_the_tie x : V_star M x = Rabs (middle x) + gamma * later.
  Proof.
    unfold V_star, best. simpl mdp_actions. rewrite greedy_two, !Q_of_the_tie. unfold sign.
    destruct (Rlt_dec _ _).
    - rewrite Rabs_pos_eq; lra.
    - rewrite Rabs_left1; lra.
  Qed.

  Lemma later_is : later = 1/5 / (1 - gamma).
  Proof.
    assert (E : later = 1/5 + gamma * later).
    { unfold later at 1, mostly_zero. cbn [expect]. rewrite !V_of_the_tie. unfold middle. cbv beta.
      rewrite (clip_inside (0 + -1)), (clip_inside (0 + 0)), (clip_inside (0 + 1)) by lra.
      replace ((0 + -1 + (0 + -1)) / 2) with (-1) by lra. replace ((0 + 0 + (0 + 0)) / 2) with 0 by lra.
      replace ((0 + 1 + (0 + 1)) / 2) with 1 by lra.
      rewrite (Rabs_left1 (-1)), Rabs_R0, Rabs_R1 by lra. lra. }
    apply Rmult_eq_reg_r with (1 - gamma); [| lra]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  Qed.

  (** The decision depends on the sign of what is seen. *)
  Lemma decision_by_middle x : greedy two_actions (Q_star M x) = if Rlt_dec 0 (middle x) then true else false.
  Proof.
    rewrite greedy_two, !Q_of_the_tie. unfold sign.
    destruct (Rlt_dec _ _), (Rlt_dec _ _); try reflexivity; lra.
  Qed.

  Lemma read_is z w : read z w = if Rlt_dec 0 (middle (fun k => newest w - tilt eta z + tilt eta k)) then true else false.
  Proof.
    unfold reads, tilted_rule. rewrite decision_by_middle. unfold middle. rewrite !estimates_are_shifted, world_is_noise. reflexivity.
  Qed.

  (** What a level does in a tie: its own action when eta > 0, the other one when eta < 0. *)
  Definition in_a_tie (z : bool) : bool := if Rlt_dec 0 eta then z else negb z.

  (** At 1 everybody takes action 1, at -1 everybody takes action 0; at 0 the level decides. *)
  Lemma read_at z w :
    (newest w = 1 -> read z w = true) /\ (newest w = -1 -> read z w = false) /\ (newest w = 0 -> read z w = in_a_tie z).
  Proof.
    destruct tilted as [small apart]. rewrite !read_is. unfold middle, tilt, in_a_tie.
    repeat split; intros ->; destruct z.
    - replace (1 - - eta + eta) with (1 + 2 * eta) by ring. replace (1 - - eta + - eta) with 1 by ring.
      rewrite (clip_above 1) by lra. pose proof (proj1 (clip_strict (1 + 2 * eta)) ltac:(lra)).
      destruct (Rlt_dec _ _); [reflexivity | lra].
    - replace (1 - eta + eta) with 1 by ring. replace (1 - eta + - eta) with (1 - 2 * eta) by ring.
      rewrite (clip_above 1) by lra. pose proof (proj1 (clip_strict (1 - 2 * eta)) ltac:(lra)).
      destruct (Rlt_dec _ _); [reflexivity | lra].
    - replace (-1 - - eta + eta) with (-1 + 2 * eta) by ring. replace (-1 - - eta + - eta) with (-1) by ring.
      rewrite (clip_below (-1)) by lra. pose proof (proj2 (clip_strict (-1 + 2 * eta)) ltac:(lra)).
      destruct (Rlt_dec _ _); [lra | reflexivity].
    - replace (-1 - eta + eta) with (-1) by ring. replace (-1 - eta + - eta) with (-1 - 2 * eta) by ring.
      rewrite (clip_below (-1)) by lra. pose proof (proj2 (clip_strict (-1 - 2 * eta)) ltac:(lra)).
      destruct (Rlt_dec _ _); [lra | reflexivity].
    - replace (0 - - eta + eta) with (2 * eta) by ring. replace (0 - - eta + - eta) with 0 by ring.
      rewrite (clip_inside 0) by lra. pose proof (clip_sign (2 * eta)) as [P N].
      destruct (Rlt_dec 0 eta) as [H | H].
      + specialize (P ltac:(lra)). destruct (Rlt_dec _ _); [reflexivity | lra].
      + specialize (N ltac:(lra)). destruct (Rlt_dec _ _); [lra | reflexivity].
    - replace (0 - eta + eta) with 0 by ring. replace (0 - eta + - eta) with (- (2 * eta)) by ring.
      rewrite (clip_inside 0) by lra. pose proof (clip_sign (- (2 * eta))) as [P N].
      destruct (Rlt_dec 0 eta) as [H | H].
      + specialize (N ltac:(lra)). destruct (Rlt_dec _ _); [lra | reflexivity].
      + specialize (P ltac:(lra)). destruct (Rlt_dec _ _); [reflexivity | lra].
  Qed.

  (** The decision as a function of the newest noise. *)
  Definition taken (z : bool) (u : R) : bool := if Rlt_dec 0 (middle (fun k => u - tilt eta z + tilt eta k)) then true else false.

  Lemma taken_at z : taken z 1 = true /\ taken z (-1) = false /\ taken z 0 = in_a_tie z.
  Proof.
    pose proof (read_at z (start 1)) as [H1 _]. pose proof (read_at z (start (-1))) as [_ [H2 _]].
    pose proof (read_at z (start 0)) as [_ [_ H3]]. rewrite !read_is in *. unfold taken, newest in *. simpl in *. auto.
  Qed.

  (** What one decision earns on average. *)
  Definition earned_per_decision : R := if Rlt_dec 0 eta then - (3/5) else 1.

  Lemma J_tilted_is n : J_tilted n = earned_per_decision * sum n (fun t => gamma ^ t).
  Proof.
    unfold J_deployed, J_rule.
    assert (E : forall k, expect mostly_zero (fun u => earned world_1 world_S world_R mostly_zero no_noise as_drawn gamma
                            (fun _ h => surely (tilted_rule h)) k n (start u)) = earned_per_decision * sum n (fun t => gamma ^ t)).
    { intros k.
      rewrite (afresh mostly_zero gamma newest (fun u => world_R k u (taken k u) 0)
                 (fun w i => step w (read k w) (no_noise i) (as_drawn i))
                 (earned world_1 world_S world_R mostly_zero no_noise as_drawn gamma (fun _ h => surely (tilted_rule h)) k)).
      - f_equal. unfold mostly_zero. cbn [expect]. destruct (taken_at k) as [-> [-> ->]]. unfold world_R, reward_of_state, sign.
        rewrite (clip_inside 1), (clip_inside (-1)), (clip_inside 0) by lra.
        unfold earned_per_decision, in_a_tie. destruct (Rlt_dec 0 eta), k; simpl; lra.
      - exact mostly_zero_law.
      - reflexivity.
      - intros m w. cbn [earned]. rewrite (expect_surely (tilted_rule (k, world k w))).
        change (tilted_rule (k, world k w)) with (read k w). rewrite expect_plus, expect_scale. f_equal.
        rewrite world_is_noise, read_is. unfold no_noise. apply expect_const, mostly_zero_law.
      - reflexivity.
      - reflexivity. }
    rewrite (expect_ext half_half _ _ E). apply expect_const, half_half_law.
  Qed.

  Lemma V_tilted_is n : V_tilted n = 1/5 * sum n (fun t => gamma ^ t).
  Proof.
    unfold fair_value.
    assert (E : forall z, expect mostly_zero (fun u => J M K (fun _ w => surely (read z w)) n (start u))
                          = 1/5 * sum n (fun t => gamma ^ t)).
    { intros z.
      rewrite (afresh mostly_zero gamma newest (fun u => sign (taken z u) * clip u)
                 (fun w i => step w (read z w) (no_noise i) (as_drawn i)) (J M K (fun _ w => surely (read z w)))).
      - f_equal. unfold mostly_zero. cbn [expect]. destruct (taken_at z) as [-> [-> ->]].
        rewrite (clip_inside 1), (clip_inside (-1)), (clip_inside 0) by lra. unfold sign. destruct (in_a_tie z); lra.
      - exact mostly_zero_law.
      - reflexivity.
      - intros m w. cbn [J]. rewrite (expect_surely (read z w)). simpl mdp_law. simpl mdp_gamma. simpl memory_extend.
        rewrite expect_plus, expect_scale. f_equal. simpl mdp_rew. simpl memory_state.
        rewrite (expect_ext mostly_zero _ (fun _ => sign (read z w) * clip (newest w))).
        + rewrite expect_const by exact mostly_zero_law. rewrite read_is. reflexivity.
        + intros i. unfold worlds_now, half_half. cbn [expect]. rewrite !world_is_noise.
          unfold world_R, reward_of_state, no_noise, sign. destruct (read z w); field.
      - reflexivity.
      - reflexivity. }
    rewrite (expect_ext half_half _ _ E). apply expect_const, half_half_law.
  Qed.

  (** States off by at most 2 |eta|, action values exact: the fair value is optimal, and J stays away from it, below or above. *)
  (* label: X7 *)
  (* label: asm:margin *)
  Theorem ties_cost_or_earn_a_constant :
    (forall z k w, Rabs (estimated_states (z, world z w) k - current (world k w)) <= 2 * Rabs eta)
    /\ J_star = 1/5 / (1 - gamma)
    /\ Un_cv V_tilted (1/5 / (1 - gamma))
    /\ (0 < eta -> Un_cv J_tilted (- (3/5) / (1 - gamma)))
    /\ (eta < 0 -> Un_cv J_tilted (1 / (1 - gamma))).
  Proof.
    assert (HJ : Un_cv J_tilted (earned_per_decision / (1 - gamma))).
    { apply Un_cv_ext with (2 := geometric_limit gamma earned_per_decision discount). intros n. symmetry. apply J_tilted_is. }
    unfold earned_per_decision in HJ. split; [| split; [| split; [| split]]].
    - intros z k w. rewrite estimates_are_shifted, !world_is_noise. unfold tilt.
      apply Rabs_le. unfold Rabs. destruct (Rcase_abs eta), z, k; lra.
    - unfold J_star_CF. rewrite <- later_is. reflexivity.
    - apply Un_cv_ext with (2 := geometric_limit gamma (1/5) discount). intros n. symmetry. apply V_tilted_is.
    - intros H. destruct (Rlt_dec 0 eta); [exact HJ | contradiction].
    - intros H. destruct (Rlt_dec 0 eta); [lra | exact HJ].
  Qed.

  (** The same over n steps; one step is the case of a single decision: 1/5, and -3/5 or 1. *)
  (* label: X7 *)
  Theorem ties_cost_or_earn_a_constant_in_n_steps n :
    V_tilted n = 1/5 * sum n (fun t => gamma ^ t) /\ J_tilted n = earned_per_decision * sum n (fun t => gamma ^ t).
  Proof. split; [apply V_tilted_is | apply J_tilted_is]. Qed.
End TiesCost.

(** thm:regret, for the rule that is deployed: whatever the constant C, J*_CF - J is more than C times the error of the states for
    some error, although the action values are exact. *)
(* label: X7 *)
(* label: thm:regret *)
Theorem deployed_regret_is_not_of_order_of_the_error gamma (discount : 0 <= gamma < 1) (C : R) :
  exists eta v, 0 < eta < 1
    /\ Un_cv (J_deployed world_1 world_S world_R half_half mostly_zero mostly_zero no_noise as_drawn gamma (tilted_rule gamma eta discount)) v
    /\ C * (2 * eta) < J_star_CF world_1 world_S world_R half_half mostly_zero mostly_zero no_noise as_drawn two_actions gamma 2
                         half_half_law mostly_zero_law discount two_nonneg world_R_bounded - v.
Proof.
  set (D := Rabs C + 2). pose proof (Rabs_pos C). pose proof (Rle_abs C). set (eta := / (4 * D)).
  assert (E : D * eta = / 4) by (unfold eta; field; unfold D; lra).
  assert (He : 0 < eta) by (apply Rinv_0_lt_compat; unfold D; lra).
  assert (He1 : eta < 1).
  { apply Rmult_lt_reg_l with D; [unfold D; lra |]. rewrite E. unfold D. lra. }
  assert (small : -1 < eta < 1 /\ eta <> 0) by lra.
  destruct (ties_cost_or_earn_a_constant gamma eta discount small) as [_ [Hstar [_ [HJ _]]]].
  exists eta, (- (3/5) / (1 - gamma)). split; [lra |]. split; [exact (HJ He) |]. rewrite Hstar.
  assert (1 <= / (1 - gamma)).
  { rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  assert (C * eta <= D * eta) by (apply Rmult_le_compat_r; unfold D; lra).
  unfold Rdiv. lra.
Qed.
