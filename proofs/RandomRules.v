(** * Theorem 3'' for rules that randomise

    read_z is now a law over actions.  Let the draws of levels z and k be coupled in any way, and tau_zk be the first time at which
    the coupled draws differ on the same noise.  Then, as for deterministic rules,

      |J - V~| <= 2 V sum_zk p_z p_k E gamma^(tau_zk - 1),     V~ <= J*_CF.

    With the maximal coupling the draws part at each decision with probability TV(read_z, read_k), the least that any coupling
    allows, and the bound is at most 2 V sum_t gamma^(t-1) E TV(read_z, read_k) at time t.  [FairValue] is the special case
    of rules that do not randomise. *)

From Coq Require Import List Reals Lra Lia Classical_Prop.
From Counterfair Require Import Model Algorithm1 Fairness FairLaws Finite ValueIteration Margin Stationary FairValue Couplings.
Import ListNotations.
Open Scope R_scope.

Section RandomRules.
  Context {Z S A US UR I : Type}.
  Variables (f_1 : Z -> US -> S) (f_S : Z -> S -> A -> US -> S) (f_R : Z -> S -> A -> UR -> R).
  Variables (population : list (R * Z)) (first_noise : list (R * US)) (noise : list (R * I)).
  Variables (u_R : I -> UR) (u_S : I -> US) (actions : finite_actions A) (gamma R_max : R).
  Hypothesis population_law : is_law population.
  Hypothesis first_noise_law : is_law first_noise.
  Hypothesis noise_law : is_law noise.
  Hypothesis discount : 0 <= gamma < 1.
  Hypothesis R_max_nonneg : 0 <= R_max.
  Hypothesis asm_bounded_reward : forall k s a i, Rabs (f_R k s a (u_R i)) <= R_max.

  Local Notation model := (stationary_model f_1 f_S f_R).
  Local Notation world := (simulate model).
  Local Notation now := (worlds_now f_1 f_S f_R).
  Local Notation M := (augmented f_S f_R population noise u_R u_S actions gamma R_max
                         population_law noise_law discount R_max_nonneg asm_bounded_reward).
  Local Notation K := (augmented_memory f_1 f_S f_R population noise u_R u_S actions gamma R_max
                         population_law noise_law discount R_max_nonneg asm_bounded_reward).
  Local Notation J_observed := (J_rule f_1 f_S f_R population first_noise noise u_R u_S gamma).
  Local Notation V := (V_max M).
  Local Notation J_star_CF := (J_star_CF f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
                                 population_law noise_law discount R_max_nonneg asm_bounded_reward).

  (** Any rule: its decision is a law over actions. *)
  Variable rho : history Z S A R -> list (R * A).
  Hypothesis rho_laws : forall h, is_law (rho h).

  (** Its value with observed rewards, over n steps. *)
  Definition J_random (n : nat) : R := J_observed (fun _ => rho) n.

  (** read_z: the law of the decision at level z, as a function of the noise. *)
  Definition draws_at (z : Z) (w : trajectory US A UR) : list (R * A) := rho (z, world z w).

  (** The fair value over n steps: rewards of all worlds along the draws of one. *)
  Definition random_fair_value (n : nat) : R :=
    expect population (fun z => expect first_noise (fun u => J M K (fun _ w => draws_at z w) n (start u))).

  (** One more step: action a, noise number i. *)
  Definition after (w : trajectory US A UR) (a : A) (i : I) : trajectory US A UR := step w a (u_R i) (u_S i).

  (** The law of the pair of draws at levels z and k, given the noise and the actions so far, on which both agree. *)
  Variable joint : Z -> Z -> trajectory US A UR -> list (R * (A * A)).
  Hypothesis joint_couples : forall z k w, couples (joint z k w) (draws_at z w) (draws_at k w).

  (** E gamma^(tau_zk - 1) over n steps: 1 where the draws differ at once, else gamma times the same one step later; what never
      parts counts 0. *)
  Fixpoint parting_of_draws (n : nat) (z k : Z) (w : trajectory US A UR) : R :=
    match n with
    | O => 0
    | Datatypes.S m =>
        expect (joint z k w) (fun ab =>
          if decide (fst ab = snd ab) then gamma * expect noise (fun i => parting_of_draws m z k (after w (fst ab) i)) else 1)
    end.

  Definition random_unfair_weight (n : nat) : R :=
    expect population (fun z => expect population (fun k => expect first_noise (fun u => parting_of_draws n z k (start u)))).

  Lemma parting_of_draws_bounds n z k : forall w, 0 <= parting_of_draws n z k w <= 1.
  Proof.
    induction n as [| n IH]; intros w; cbn [parting_of_draws]; [lra |].
    assert (B : forall ab, 0 <= (if decide (fst ab = snd ab)
                  then gamma * expect noise (fun i => parting_of_draws n z k (after w (fst ab) i)) else 1) <= 1).
    { intros [a b]. cbn [fst snd]. destruct (decide (a = b)); [| lra].
      assert (0 <= expect noise (fun i => parting_of_draws n z k (after w a i)) <= 1).
      { split; [apply expect_ge_const | apply expect_le_const]; try exact noise_law; intros i; apply IH. }
      split; [apply Rmult_le_pos; lra |]. rewrite <- (Rmult_1_r 1). apply Rmult_le_compat; lra. }
    destruct (joint_couples z k w) as [Hc _].
    split; [apply expect_ge_const | apply expect_le_const]; try exact Hc; intros ab; apply B.
  Qed.

  (** ** Rewards of world k along the draws of level z *)

  (** What action a is worth in world k when the draws of level z follow. *)
  Fixpoint along_draws (z k : Z) (n : nat) (w : trajectory US A UR) : R :=
    match n with
    | O => 0
    | Datatypes.S m =>
        expect (draws_at z w) (fun a =>
          expect noise (fun i => f_R k (current (world k w)) a (u_R i) + gamma * along_draws z k m (after w a i)))
    end.

  Definition worth (z k : Z) (n : nat) (w : trajectory US A UR) (a : A) : R :=
    expect noise (fun i => f_R k (current (world k w)) a (u_R i) + gamma * along_draws z k n (after w a i)).

  Lemma along_draws_step z k n w : along_draws z k (Datatypes.S n) w = expect (draws_at z w) (worth z k n w).
  Proof. reflexivity. Qed.

  Lemma worth_bounded_by z k n w a : (forall w, Rabs (along_draws z k n w) <= V) -> Rabs (worth z k n w a) <= V.
  Proof.
    intros H. unfold worth. rewrite <- (Rminus_0_r (expect _ _)), <- (expect_const noise 0 noise_law).
    apply expect_close; [exact noise_law |]. intros i. rewrite Rminus_0_r, <- (V_max_step M).
    apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat; [apply asm_bounded_reward |].
    simpl mdp_gamma. rewrite Rabs_mult, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra | apply H].
  Qed.

  Lemma along_draws_bounded z k n : forall w, Rabs (along_draws z k n w) <= V.
  Proof.
    induction n as [| n IH]; intros w.
    - simpl. rewrite Rabs_R0. apply V_max_nonneg.
    - rewrite along_draws_step, <- (Rminus_0_r (expect _ _)), <- (expect_const (draws_at z w) 0 (rho_laws _)).
      apply expect_close; [apply rho_laws |]. intros a. rewrite Rminus_0_r. apply worth_bounded_by, IH.
  Qed.

  Lemma earned_is_along_draws k n : forall w,
    earned f_1 f_S f_R noise u_R u_S gamma (fun _ => rho) k n w = along_draws k k n w.
  Proof.
    induction n as [| n IH]; intros w; cbn [earned along_draws]; [reflexivity |].
    apply expect_ext. intros a. apply expect_ext. intros i. rewrite IH. reflexivity.
  Qed.

  Lemma augmented_is_along_draws z n : forall w,
    J M K (fun _ w => draws_at z w) n w = expect population (fun k => along_draws z k n w).
  Proof.
    induction n as [| n IH]; intros w; cbn [J along_draws]; [symmetry; apply expect_const, population_law |].
    rewrite expect_swap. apply expect_ext. intros a. rewrite expect_swap. apply expect_ext. intros i.
    rewrite expect_plus, expect_scale. f_equal. f_equal. apply (IH (after w a i)).
  Qed.

  (** Until they part, the two levels draw alike and earn alike in world k; afterwards each earns at most V. *)
  Lemma along_draws_differ z k n : forall w,
    Rabs (along_draws k k n w - along_draws z k n w) <= 2 * V * parting_of_draws n z k w.
  Proof.
    induction n as [| n IH]; intros w.
    - simpl. rewrite Rminus_0_r, Rabs_R0. lra.
    - destruct (joint_couples z k w) as [Hc [Hz Hk]]. rewrite !along_draws_step, <- (Hz (worth z k n w)), <- (Hk (worth k k n w)).
      rewrite <- expect_minus. cbn [parting_of_draws]. rewrite <- expect_scale. apply expect_abs; [apply Hc |].
      intros [a b]. cbn [fst snd]. destruct (decide (a = b)) as [<- | _].
      + unfold worth. rewrite <- expect_minus.
        rewrite (expect_ext noise _ (fun i => gamma * (along_draws k k n (after w a i) - along_draws z k n (after w a i))))
          by (intros i; ring).
        rewrite expect_scale, Rabs_mult, (Rabs_pos_eq gamma) by lra.
        replace (2 * V * (gamma * expect noise (fun i => parting_of_draws n z k (after w a i))))
          with (gamma * expect noise (fun i => 2 * V * parting_of_draws n z k (after w a i))) by (rewrite expect_scale; ring).
        apply Rmult_le_compat_l; [lra |]. apply expect_abs; [apply noise_law |]. intros i. apply IH.
      + pose proof (worth_bounded_by k k n w b (along_draws_bounded k k n)).
        pose proof (worth_bounded_by z k n w a (along_draws_bounded z k n)).
        unfold Rminus. apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp. lra.
  Qed.

  (** |J - V~| <= 2 V sum_zk p_z p_k E gamma^(tau_zk - 1), for any rule, any coupling of the draws and any horizon. *)
  (* label: X7 *)
  Theorem gained_by_unfairness_of_draws n : Rabs (J_random n - random_fair_value n) <= 2 * V * random_unfair_weight n.
  Proof.
    assert (E : J_random n - random_fair_value n
                = expect population (fun z => expect population (fun k =>
                    expect first_noise (fun u => along_draws k k n (start u) - along_draws z k n (start u))))).
    { unfold J_random, J_rule, random_fair_value.
      rewrite <- (expect_const population (expect population (fun k => expect first_noise (fun u =>
                    earned f_1 f_S f_R noise u_R u_S gamma (fun _ => rho) k n (start u)))) population_law).
      rewrite <- expect_minus. apply expect_ext. intros z.
      rewrite (expect_ext first_noise (fun u => J M K _ n (start u)) _ (fun u => augmented_is_along_draws z n (start u))).
      rewrite (expect_swap first_noise population), <- expect_minus. apply expect_ext. intros k.
      rewrite <- expect_minus. apply expect_ext. intros u. rewrite earned_is_along_draws. reflexivity. }
    rewrite E. unfold random_unfair_weight.
    rewrite <- expect_scale. apply expect_abs; [apply population_law |]. intros z.
    rewrite <- expect_scale. apply expect_abs; [apply population_law |]. intros k.
    rewrite <- expect_scale. apply expect_abs; [apply first_noise_law |]. intros u. apply along_draws_differ.
  Qed.

  (** V~ never exceeds the best fair value. *)
  (* label: X7 *)
  Theorem random_fair_value_at_most_optimum n : random_fair_value n <= J_star_CF + gamma ^ n * V.
  Proof.
    unfold random_fair_value. apply expect_le_const; [exact population_law |]. intros z. unfold FairValue.J_star_CF.
    apply Rle_trans with (expect first_noise (fun u => V_star M (now (start u)) + gamma ^ n * V)).
    - apply expect_le; [apply first_noise_law |]. intros u.
      apply (J_at_most_V_star M K). intros _ w. apply rho_laws.
    - rewrite (expect_plus _ _ (fun _ => gamma ^ n * V)), expect_const by exact first_noise_law. lra.
  Qed.

  (** ** The infinite horizon *)

  Lemma along_draws_tail z k n m : forall w, Rabs (along_draws z k (n + m) w - along_draws z k n w) <= gamma ^ n * V.
  Proof.
    induction n as [| n IH]; intros w.
    - simpl. rewrite Rminus_0_r, Rmult_1_l. apply along_draws_bounded.
    - cbn [along_draws Nat.add]. apply expect_close; [apply rho_laws |]. intros a. apply expect_close; [exact noise_law |]. intros i.
      match goal with |- Rabs (?r + gamma * ?x - (?r + gamma * ?y)) <= _ =>
        replace (r + gamma * x - (r + gamma * y)) with (gamma * (x - y)) by ring end.
      rewrite Rabs_mult, Rabs_pos_eq by lra. simpl. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra | apply IH].
  Qed.

  Lemma parting_of_draws_tail z k n m : forall w,
    Rabs (parting_of_draws (n + m) z k w - parting_of_draws n z k w) <= gamma ^ n * 1.
  Proof.
    induction n as [| n IH]; intros w.
    - simpl. pose proof (parting_of_draws_bounds m z k w). rewrite Rabs_pos_eq; lra.
    - destruct (joint_couples z k w) as [Hc _]. cbn [Nat.add parting_of_draws]. apply expect_close; [exact Hc |]. intros [a b]. cbn [fst snd].
      destruct (decide (a = b)).
      + rewrite <- Rmult_minus_distr_l, Rabs_mult, Rabs_pos_eq by lra. simpl. rewrite Rmult_assoc.
        apply Rmult_le_compat_l; [lra |]. apply expect_close; [exact noise_law |]. intros i. apply IH.
      + rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rmult_le_pos; [apply pow_le |]; lra.
  Qed.

  Definition random_values (v v_fair p : R) : Prop :=
    Un_cv J_random v /\ Un_cv random_fair_value v_fair /\ Un_cv random_unfair_weight p.

  (** Every rule has a value, a fair value and a weight of unfairness. *)
  (* label: X7 *)
  Theorem every_random_rule_has_values : exists v v_fair p, random_values v v_fair p.
  Proof.
    destruct (R_complete J_random) as [v Hv]; [| destruct (R_complete random_fair_value) as [v_fair Hf];
      [| destruct (R_complete random_unfair_weight) as [p Hp]; [| exists v, v_fair, p; repeat split; assumption]]].
    - apply geometric_cauchy with gamma V; [assumption | apply V_max_nonneg |]. intros n m.
      apply expect_close; [exact population_law |]. intros k. apply expect_close; [exact first_noise_law |]. intros u.
      rewrite !earned_is_along_draws. apply along_draws_tail.
    - apply geometric_cauchy with gamma V; [assumption | apply V_max_nonneg |]. intros n m.
      apply expect_close; [exact population_law |]. intros z. apply expect_close; [exact first_noise_law |]. intros u.
      apply (J_tail M K (draws_at z)). intros w. apply rho_laws.
    - apply geometric_cauchy with gamma 1; [assumption | lra |]. intros n m.
      apply expect_close; [exact population_law |]. intros z. apply expect_close; [exact population_law |]. intros k.
      apply expect_close; [exact first_noise_law |]. intros u. apply parting_of_draws_tail.
  Qed.

  (** Theorem 3'' for any rule, deterministic or not. *)
  (* label: X7 *)
  Theorem value_of_any_random_rule v v_fair p :
    random_values v v_fair p -> Rabs (v - v_fair) <= 2 * V * p /\ v_fair <= J_star_CF.
  Proof.
    intros [Hv [Hf Hp]]. pose proof (CV_mult _ _ _ _ (constant_limit (2 * V)) Hp) as Hb. split.
    - apply Rabs_le. split.
      + enough (v_fair - v - 2 * V * p <= 0) by lra.
        apply (limit_le _ _ _ gamma 0 discount (Rle_refl 0) (CV_minus _ _ _ _ (CV_minus _ _ _ _ Hf Hv) Hb)).
        intros n. pose proof (abs_bounds _ _ (gained_by_unfairness_of_draws n)). lra.
      + enough (v - v_fair - 2 * V * p <= 0) by lra.
        apply (limit_le _ _ _ gamma 0 discount (Rle_refl 0) (CV_minus _ _ _ _ (CV_minus _ _ _ _ Hv Hf) Hb)).
        intros n. pose proof (abs_bounds _ _ (gained_by_unfairness_of_draws n)). lra.
    - apply (limit_le _ _ _ gamma V discount (V_max_nonneg M) Hf). apply random_fair_value_at_most_optimum.
  Qed.

  (** What V~ is: at each level z, the value of the fair rule "draw as the rule would, had this person been at level z". *)
  (* label: X7 *)
  Theorem random_fair_value_is_earned_by_fair_rules abduct (asm_unique : noise_is_read_off model abduct) :
    exists as_at : Z -> history Z S A R -> list (R * A),
      (forall z, fair_rule f_1 f_S f_R abduct (fun _ => as_at z))
      /\ forall n, random_fair_value n = expect population (fun z => J_observed (fun _ => as_at z) n).
  Proof.
    exists (fun z h => draws_at z (abduct h)).
    assert (F : forall z, fair_rule f_1 f_S f_R abduct (fun _ h => draws_at z (abduct h))).
    { intros z. split; [intros; apply rho_laws |]. intros _ h _ z'.
      rewrite !(abduct_counterfactual _ _ asm_unique). reflexivity. }
    split; [exact F |]. intros n. unfold random_fair_value. apply expect_ext. intros z. symmetry.
    etransitivity; [exact (value_is_augmented_value f_1 f_S f_R abduct asm_unique population first_noise noise u_R u_S
      actions gamma R_max population_law noise_law discount R_max_nonneg asm_bounded_reward z _ n (F z)) |].
    apply expect_ext. intros u. apply J_ext. intros m w. unfold as_policy. rewrite asm_unique. reflexivity.
  Qed.

  (** ** A bound in total variation *)

  (** E g(W_(t+1)) for somebody at level z who starts at w and is treated by the rule. *)
  Fixpoint at_time_of_draws (t : nat) (z : Z) (g : trajectory US A UR -> R) (w : trajectory US A UR) : R :=
    match t with
    | O => g w
    | Datatypes.S t => expect (draws_at z w) (fun a => expect noise (fun i => at_time_of_draws t z g (after w a i)))
    end.

  (** P(the coupled draws of the two levels differ) at time t + 1, everybody treated by the rule at their own level. *)
  Definition disagreement_of_draws (t : nat) : R :=
    expect population (fun z => expect population (fun k => expect first_noise (fun u =>
      at_time_of_draws t z (fun w => parts (joint z k w)) (start u)))).

  Lemma parting_by_disagreement_of_draws z k n : forall w,
    parting_of_draws n z k w <= sum n (fun t => gamma ^ t * at_time_of_draws t z (fun w => parts (joint z k w)) w).
  Proof.
    induction n as [| n IH]; intros w; [simpl; lra |]. cbn [parting_of_draws].
    destruct (joint_couples z k w) as [Hc [Hz _]]. rewrite sum_first. cbn [pow at_time_of_draws]. rewrite Rmult_1_l.
    rewrite (sum_ext n _ (fun t => gamma * (gamma ^ t * expect (draws_at z w) (fun a => expect noise (fun i =>
      at_time_of_draws t z (fun w => parts (joint z k w)) (after w a i)))))) by (intros; ring).
    rewrite sum_scale, <- expect_discounted_sum.
    rewrite <- (expect_scale (draws_at z w)), <- (Hz (fun a => gamma * _)). unfold parts.
    rewrite <- expect_plus. apply expect_le; [apply Hc |]. intros [a b]. cbn [fst snd].
    assert (L : expect noise (fun i => parting_of_draws n z k (after w a i))
                <= sum n (fun t => gamma ^ t * expect noise (fun i =>
                     at_time_of_draws t z (fun w => parts (joint z k w)) (after w a i)))).
    { rewrite <- expect_discounted_sum. apply expect_le; [apply noise_law |]. intros i. apply IH. }
    assert (P : 0 <= expect noise (fun i => parting_of_draws n z k (after w a i))).
    { apply expect_ge_const; [exact noise_law |]. intros i. apply parting_of_draws_bounds. }
    apply Rmult_le_compat_l with (r := gamma) in L; [| lra].
    pose proof (Rmult_le_pos gamma _ (proj1 discount) P).
    destruct (decide (a = b)) as [E | Hne].
    - rewrite indicator_false by (intros H'; apply H', E). unfold parts in *. lra.
    - rewrite (indicator_true _ Hne). unfold parts in *. lra.
  Qed.

  (** |J - V~| <= 2 V sum_t gamma^(t-1) P(the draws of two worlds differ at time t). *)
  (* label: X7 *)
  Theorem gained_at_most_disagreement_of_draws n :
    Rabs (J_random n - random_fair_value n) <= 2 * V * sum n (fun t => gamma ^ t * disagreement_of_draws t).
  Proof.
    apply Rle_trans with (1 := gained_by_unfairness_of_draws n).
    apply Rmult_le_compat_l; [pose proof (V_max_nonneg M); lra |].
    unfold disagreement_of_draws. rewrite <- expect_discounted_sum. apply expect_le; [apply population_law |]. intros z.
    rewrite <- expect_discounted_sum. apply expect_le; [apply population_law |]. intros k.
    rewrite <- expect_discounted_sum. apply expect_le; [apply first_noise_law |]. intros u. apply parting_by_disagreement_of_draws.
  Qed.

  (** A rule that is fair in law gains nothing. *)
  (* label: C12 *)
  Theorem fair_random_rules_gain_nothing abduct n :
    noise_is_read_off model abduct -> fair_in_law model abduct rho -> J_random n = random_fair_value n.
  Proof.
    intros asm_unique Hfair.
    assert (F : fair_rule f_1 f_S f_R abduct (fun _ => rho)) by (split; [intros; apply rho_laws | intros; exact Hfair]).
    unfold random_fair_value. rewrite <- (expect_const population (J_random n) population_law). apply expect_ext. intros z.
    exact (value_is_augmented_value f_1 f_S f_R abduct asm_unique population first_noise noise u_R u_S
             actions gamma R_max population_law noise_law discount R_max_nonneg asm_bounded_reward z _ n F).
  Qed.
End RandomRules.

(** ** The maximal coupling: the draws of two worlds part with probability TV *)

Section MaximalCoupling.
  Context {Z S A US UR I : Type}.
  Variables (f_1 : Z -> US -> S) (f_S : Z -> S -> A -> US -> S) (f_R : Z -> S -> A -> UR -> R).
  Variables (population : list (R * Z)) (first_noise : list (R * US)) (noise : list (R * I)).
  Variables (u_R : I -> UR) (u_S : I -> US) (actions : finite_actions A) (gamma R_max : R).
  Hypothesis population_law : is_law population.
  Hypothesis first_noise_law : is_law first_noise.
  Hypothesis noise_law : is_law noise.
  Hypothesis discount : 0 <= gamma < 1.
  Hypothesis R_max_nonneg : 0 <= R_max.
  Hypothesis asm_bounded_reward : forall k s a i, Rabs (f_R k s a (u_R i)) <= R_max.

  Local Notation draws_at := (draws_at f_1 f_S f_R).
  Local Notation M := (augmented f_S f_R population noise u_R u_S actions gamma R_max
                         population_law noise_law discount R_max_nonneg asm_bounded_reward).
  Local Notation fair_value_of rho :=
    (random_fair_value f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
       population_law noise_law discount R_max_nonneg asm_bounded_reward rho).

  (** The two draws share as much as their laws allow. *)
  Definition most_alike (rho : history Z S A R -> list (R * A)) (z k : Z) (w : trajectory US A UR) : list (R * (A * A)) :=
    maximal_coupling actions (draws_at rho z w) (draws_at rho k w).

  (** At each decision they part with probability TV(read_z, read_k). *)
  (* label: X7 *)
  (* label: eq:cf_metric *)
  Theorem draws_part_with_total_variation rho :
    (forall h, is_law (rho h)) ->
    forall z k w, couples (most_alike rho z k w) (draws_at rho z w) (draws_at rho k w)
                  /\ parts (most_alike rho z k w) = total_variation actions (draws_at rho z w) (draws_at rho k w).
  Proof. intros H z k w. split; [apply maximal_couples | apply maximal_parts]; apply H. Qed.

  (** E TV(read_z, read_k) at time t + 1, everybody treated by the rule at their own level. *)
  Definition mean_total_variation (rho : history Z S A R -> list (R * A)) (t : nat) : R :=
    expect population (fun z => expect population (fun k => expect first_noise (fun u =>
      at_time_of_draws f_1 f_S f_R noise u_R u_S rho t z
        (fun w => total_variation actions (draws_at rho z w) (draws_at rho k w)) (start u)))).

  (** Theorem 3'' for random rules in the CF metric of laws: |J - V~| <= 2 V sum_t gamma^(t-1) E TV_t. *)
  (* label: X7 *)
  Theorem gained_at_most_total_variation rho n :
    (forall h, is_law (rho h)) ->
    Rabs (J_random f_1 f_S f_R population first_noise noise u_R u_S gamma rho n - fair_value_of rho n)
    <= 2 * V_max M * sum n (fun t => gamma ^ t * mean_total_variation rho t).
  Proof.
    intros H.
    assert (E : forall t, disagreement_of_draws f_1 f_S f_R population first_noise noise u_R u_S rho (most_alike rho) t
                          = mean_total_variation rho t).
    { intros t. unfold disagreement_of_draws, mean_total_variation.
      apply expect_ext. intros z. apply expect_ext. intros k. apply expect_ext. intros u.
      generalize (@start US A UR u). induction t as [| t IH]; intros w; cbn [at_time_of_draws].
      - apply draws_part_with_total_variation, H.
      - apply expect_ext. intros a. apply expect_ext. intros i. apply IH. }
    rewrite <- (sum_ext n _ _ (fun t => f_equal (Rmult (gamma ^ t)) (E t))).
    apply gained_at_most_disagreement_of_draws; [exact first_noise_law | exact H |].
    intros z k w. apply draws_part_with_total_variation, H.
  Qed.

  (** Rules that do not randomise: J, V~ and E gamma^(tau - 1) are those of [FairValue], under every coupling. *)
  (* label: X7 *)
  Theorem certain_rules_are_a_special_case (d : history Z S A R -> A) joint n :
    let rho := fun h => surely (d h) in
    (forall z k w, couples (joint z k w) (draws_at rho z w) (draws_at rho k w)) ->
    J_random f_1 f_S f_R population first_noise noise u_R u_S gamma rho n
      = J_deployed f_1 f_S f_R population first_noise noise u_R u_S gamma d n
    /\ fair_value_of rho n
       = fair_value f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
           population_law noise_law discount R_max_nonneg asm_bounded_reward d n
    /\ random_unfair_weight population first_noise noise u_R u_S gamma joint n
       = unfair_weight f_1 f_S f_R population first_noise noise u_R u_S gamma d n.
  Proof.
    intros rho Hc. split; [reflexivity |]. split; [reflexivity |].
    apply expect_ext. intros z. apply expect_ext. intros k. apply expect_ext. intros u.
    generalize (@start US A UR u). induction n as [| n IH]; intros w; [reflexivity |].
    rewrite parting_step by exact noise_law. cbn [parting_of_draws].
    rewrite (couples_surely (joint z k w) (d (z, simulate (stationary_model f_1 f_S f_R) z w))
               (d (k, simulate (stationary_model f_1 f_S f_R) k w)) _ (Hc z k w)). cbn [fst snd].
    change (d (z, simulate (stationary_model f_1 f_S f_R) z w)) with (reads f_1 f_S f_R d z w).
    change (d (k, simulate (stationary_model f_1 f_S f_R) k w)) with (reads f_1 f_S f_R d k w).
    destruct (decide _); [| reflexivity]. f_equal. apply expect_ext. intros i. apply IH.
  Qed.
End MaximalCoupling.
