(** * Theorem 3'': what a deployed, almost fair rule is worth

    A rule d that reads estimated states is not exactly fair, and its value J need not be that of the augmented process.  Let
    read_z be the decisions that d takes at level z, as a function of the noise.  The *fair value* is

      V~(d) = sum_z p_z E sum_t gamma^(t-1) R~_t  along read_z,     R~_t = sum_k p_k R^k_t,

    and tau_zk is the first time at which read_z and read_k part on the same noise.  Then

      |J(d) - V~(d)| <= 2 V sum_zk p_z p_k E gamma^(tau_zk - 1),     V~(d) <= J*_CF,

    and J*_CF - V~(d) <= 2 xi / (1 - gamma) when d is greedy on scores within xi of Q* along its own path.  J - V~ is what is
    gained by unfairness; it has either sign, so J itself may exceed J*_CF. *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import Model Algorithm1 Fairness FairLaws Finite ValueIteration Margin Stationary.
Import ListNotations.
Open Scope R_scope.

Section FairValue.
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

  (** J*_CF, which [supremum_over_fair_rules] shows to be the supremum over all fair rules. *)
  Definition J_star_CF : R := expect first_noise (fun u => V_star M (now (start u))).

  (** Any deterministic rule, fair or not; the length of the history tells t. *)
  Variable d : history Z S A R -> A.

  (** Its value with observed rewards, over n steps. *)
  Definition J_deployed (n : nat) : R := J_observed (fun _ h => surely (d h)) n.

  (** read_z *)
  Definition reads (z : Z) (w : trajectory US A UR) : A := d (z, world z w).

  (** One more step of somebody at level z: the rule decides, noise number i falls. *)
  Definition moves (z : Z) (w : trajectory US A UR) (i : I) : trajectory US A UR := step w (reads z w) (u_R i) (u_S i).

  (** The fair value over n steps: rewards of all worlds along the decisions of one. *)
  Definition fair_value (n : nat) : R :=
    expect population (fun z => expect first_noise (fun u => J M K (fun _ w => surely (reads z w)) n (start u))).

  (** tau_zk - 1 on a path of noise: how many decisions agree before read_z and read_k part; None if they do not part. *)
  Fixpoint agreed (z k : Z) (w : trajectory US A UR) (path : list I) : option nat :=
    match path with
    | [] => None
    | i :: later =>
        if decide (reads z w = reads k w) then option_map Datatypes.S (agreed z k (moves z w i) later) else Some O
    end.

  (** E gamma^(tau_zk - 1) over n steps; what never parts counts 0. *)
  Definition parting (n : nat) (z k : Z) (w : trajectory US A UR) : R :=
    draws noise n (fun path => match agreed z k w path with Some t => gamma ^ t | None => 0 end).

  Definition unfair_weight (n : nat) : R :=
    expect population (fun z => expect population (fun k => expect first_noise (fun u => parting n z k (start u)))).

  Lemma parting_step n z k w :
    parting (Datatypes.S n) z k w
    = if decide (reads z w = reads k w) then gamma * expect noise (fun i => parting n z k (moves z w i)) else 1.
  Proof.
    unfold parting. cbn [draws agreed]. destruct (decide (reads z w = reads k w)) as [_ | _].
    - rewrite <- expect_scale. apply expect_ext. intros i. rewrite <- draws_scale. apply draws_ext. intros path.
      destruct (agreed z k (moves z w i) path); simpl; ring.
    - simpl. rewrite (expect_ext noise _ (fun _ => 1)); [apply expect_const, noise_law |].
      intros i. apply draws_const, noise_law.
  Qed.

  Lemma parting_bounds n z k : forall w, 0 <= parting n z k w <= 1.
  Proof.
    induction n as [| n IH]; intros w; [unfold parting; simpl; lra |].
    rewrite parting_step. destruct (decide _); [| lra].
    assert (0 <= expect noise (fun i => parting n z k (moves z w i)) <= 1).
    { split; [apply expect_ge_const | apply expect_le_const]; try exact noise_law; intros i; apply IH. }
    split; [apply Rmult_le_pos; lra |]. rewrite <- (Rmult_1_r 1). apply Rmult_le_compat; lra.
  Qed.

  (** ** Rewards of world k along the decisions of level z *)

  Fixpoint along (z k : Z) (n : nat) (w : trajectory US A UR) : R :=
    match n with
    | O => 0
    | Datatypes.S m =>
        expect noise (fun i => f_R k (current (world k w)) (reads z w) (u_R i) + gamma * along z k m (moves z w i))
    end.

  Lemma along_bounded z k n : forall w, Rabs (along z k n w) <= V.
  Proof.
    induction n as [| n IH]; intros w; cbn [along].
    - rewrite Rabs_R0. apply V_max_nonneg.
    - rewrite <- (Rminus_0_r (expect _ _)), <- (expect_const noise 0 noise_law).
      apply expect_close; [exact noise_law |]. intros i. rewrite Rminus_0_r, <- (V_max_step M).
      apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat; [apply asm_bounded_reward |].
      simpl mdp_gamma. rewrite Rabs_mult, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra | apply IH].
  Qed.

  Lemma earned_is_along k n : forall w,
    earned f_1 f_S f_R noise u_R u_S gamma (fun _ h => surely (d h)) k n w = along k k n w.
  Proof.
    induction n as [| n IH]; intros w; cbn [earned along]; [reflexivity |].
    rewrite (expect_surely (d (k, world k w))). apply expect_ext. intros i. rewrite IH. reflexivity.
  Qed.

  Lemma augmented_is_along z n : forall w,
    J M K (fun _ w => surely (reads z w)) n w = expect population (fun k => along z k n w).
  Proof.
    induction n as [| n IH]; intros w; cbn [J along]; [symmetry; apply expect_const, population_law |].
    rewrite (expect_surely (reads z w)), expect_swap. apply expect_ext. intros i.
    rewrite expect_plus, expect_scale. f_equal. f_equal. apply (IH (moves z w i)).
  Qed.

  (** Until they part, the two levels decide alike and earn alike in world k; afterwards each earns at most V. *)
  Lemma along_differ z k n : forall w, Rabs (along k k n w - along z k n w) <= 2 * V * parting n z k w.
  Proof.
    induction n as [| n IH]; intros w.
    - simpl. rewrite Rminus_0_r, Rabs_R0. unfold parting; simpl. lra.
    - rewrite parting_step. destruct (decide (reads z w = reads k w)) as [E | _].
      + cbn [along]. rewrite <- expect_minus.
        assert (L : forall i, Rabs (along k k n (moves k w i) - along z k n (moves z w i))
                              <= 2 * V * parting n z k (moves z w i)).
        { intros i. unfold moves. rewrite <- E. apply IH. }
        replace (2 * V * (gamma * expect noise (fun i => parting n z k (moves z w i))))
          with (expect noise (fun i => gamma * (2 * V * parting n z k (moves z w i)))) by (rewrite !expect_scale; ring).
        rewrite (expect_ext noise _ (fun i => gamma * (along k k n (moves k w i) - along z k n (moves z w i))))
          by (intros i; rewrite E; ring).
        rewrite !expect_scale, Rabs_mult, (Rabs_pos_eq gamma) by lra. apply Rmult_le_compat_l; [lra |].
        rewrite <- (expect_scale noise (2 * V)). apply expect_abs; [apply noise_law | exact L].
      + rewrite Rmult_1_r. pose proof (along_bounded k k (Datatypes.S n) w). pose proof (along_bounded z k (Datatypes.S n) w).
        unfold Rminus. apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp. lra.
  Qed.

  (** ** The three parts of Theorem 3'', for every horizon *)

  (** J and V~ differ by no more than the parting of the levels allows. *)
  (* label: X7 *)
  Theorem gained_by_unfairness n : Rabs (J_deployed n - fair_value n) <= 2 * V * unfair_weight n.
  Proof.
    assert (E : J_deployed n - fair_value n
                = expect population (fun z => expect population (fun k =>
                    expect first_noise (fun u => along k k n (start u) - along z k n (start u))))).
    { unfold J_deployed, J_rule, fair_value.
      rewrite <- (expect_const population (expect population (fun k => expect first_noise (fun u =>
                    earned f_1 f_S f_R noise u_R u_S gamma (fun _ h => surely (d h)) k n (start u)))) population_law).
      rewrite <- expect_minus. apply expect_ext. intros z.
      rewrite (expect_ext first_noise (fun u => J M K _ n (start u)) _ (fun u => augmented_is_along z n (start u))).
      rewrite (expect_swap first_noise population), <- expect_minus. apply expect_ext. intros k.
      rewrite <- expect_minus. apply expect_ext. intros u. rewrite earned_is_along. reflexivity. }
    rewrite E. unfold unfair_weight.
    rewrite <- expect_scale. apply expect_abs; [apply population_law |]. intros z.
    rewrite <- expect_scale. apply expect_abs; [apply population_law |]. intros k.
    rewrite <- expect_scale. apply expect_abs; [apply first_noise_law |]. intros u. apply along_differ.
  Qed.

  (** V~ never exceeds the best fair value. *)
  (* label: X7 *)
  Theorem fair_value_at_most_optimum n : fair_value n <= J_star_CF + gamma ^ n * V.
  Proof.
    unfold fair_value. apply expect_le_const; [exact population_law |]. intros z. unfold J_star_CF.
    apply Rle_trans with (expect first_noise (fun u => V_star M (now (start u)) + gamma ^ n * V)).
    - apply expect_le; [apply first_noise_law |]. intros u.
      apply (J_at_most_V_star M K). intros _ w. apply surely_is_law.
    - rewrite (expect_plus _ _ (fun _ => gamma ^ n * V)), expect_const by exact first_noise_law. lra.
  Qed.

  (** ** The infinite horizon *)

  Lemma along_tail z k n m : forall w, Rabs (along z k (n + m) w - along z k n w) <= gamma ^ n * V.
  Proof.
    induction n as [| n IH]; intros w.
    - simpl. rewrite Rminus_0_r, Rmult_1_l. apply along_bounded.
    - cbn [along Nat.add]. apply expect_close; [exact noise_law |]. intros i.
      match goal with |- Rabs (?r + gamma * ?x - (?r + gamma * ?y)) <= _ =>
        replace (r + gamma * x - (r + gamma * y)) with (gamma * (x - y)) by ring end.
      rewrite Rabs_mult, Rabs_pos_eq by lra. simpl. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra | apply IH].
  Qed.

  Lemma parting_tail z k n m : forall w, Rabs (parting (n + m) z k w - parting n z k w) <= gamma ^ n * 1.
  Proof.
    induction n as [| n IH]; intros w.
    - replace (parting 0 z k w) with 0 by reflexivity. simpl. rewrite Rminus_0_r, Rmult_1_l.
      pose proof (parting_bounds m z k w). rewrite Rabs_pos_eq; lra.
    - cbn [Nat.add]. rewrite !parting_step. destruct (decide _).
      + rewrite <- Rmult_minus_distr_l, Rabs_mult, Rabs_pos_eq by lra. simpl. rewrite Rmult_assoc.
        apply Rmult_le_compat_l; [lra |]. apply expect_close; [exact noise_law |]. intros i. apply IH.
      + rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rmult_le_pos; [apply pow_le |]; lra.
  Qed.

  (** Every rule has a value J, a fair value V~ and a weight of unfairness E gamma^(tau - 1). *)
  Definition values (v v_fair p : R) : Prop := Un_cv J_deployed v /\ Un_cv fair_value v_fair /\ Un_cv unfair_weight p.

  (* label: X7 *)
  Theorem every_rule_has_values : exists v v_fair p, values v v_fair p.
  Proof.
    destruct (R_complete J_deployed) as [v Hv]; [| destruct (R_complete fair_value) as [v_fair Hf];
      [| destruct (R_complete unfair_weight) as [p Hp]; [| exists v, v_fair, p; repeat split; assumption]]].
    - apply geometric_cauchy with gamma V; [assumption | apply V_max_nonneg |]. intros n m.
      apply expect_close; [exact population_law |]. intros k. apply expect_close; [exact first_noise_law |]. intros u.
      rewrite !earned_is_along. apply along_tail.
    - apply geometric_cauchy with gamma V; [assumption | apply V_max_nonneg |]. intros n m.
      apply expect_close; [exact population_law |]. intros z. apply expect_close; [exact first_noise_law |]. intros u.
      apply (J_tail M K (fun w => surely (reads z w))). intros w. apply surely_is_law.
    - apply geometric_cauchy with gamma 1; [assumption | lra |]. intros n m.
      apply expect_close; [exact population_law |]. intros z. apply expect_close; [exact population_law |]. intros k.
      apply expect_close; [exact first_noise_law |]. intros u. apply parting_tail.
  Qed.

  (** Theorem 3'', first two parts: |J - V~| <= 2 V E gamma^(tau - 1) and V~ <= J*_CF, for any deterministic rule. *)
  (* label: X7 *)
  Theorem value_of_any_rule v v_fair p :
    values v v_fair p -> Rabs (v - v_fair) <= 2 * V * p /\ v_fair <= J_star_CF.
  Proof.
    intros [Hv [Hf Hp]]. pose proof (CV_mult _ _ _ _ (constant_limit (2 * V)) Hp) as Hb. split.
    - apply Rabs_le. split.
      + enough (v_fair - v - 2 * V * p <= 0) by lra.
        apply (limit_le _ _ _ gamma 0 discount (Rle_refl 0) (CV_minus _ _ _ _ (CV_minus _ _ _ _ Hf Hv) Hb)).
        intros n. pose proof (abs_bounds _ _ (gained_by_unfairness n)). lra.
      + enough (v - v_fair - 2 * V * p <= 0) by lra.
        apply (limit_le _ _ _ gamma 0 discount (Rle_refl 0) (CV_minus _ _ _ _ (CV_minus _ _ _ _ Hv Hf) Hb)).
        intros n. pose proof (abs_bounds _ _ (gained_by_unfairness n)). lra.
    - apply (limit_le _ _ _ gamma V discount (V_max_nonneg M) Hf). apply fair_value_at_most_optimum.
  Qed.

  (** A fair rule never parts, so that J = V~: C12 is a special case. *)
  (* label: C12 *)
  Theorem fair_rules_gain_nothing abduct n :
    noise_is_read_off model abduct -> fair model abduct d -> J_deployed n = fair_value n.
  Proof.
    intros asm_unique Hfair. apply equal_if_close.
    apply Rle_trans with (1 := gained_by_unfairness n).
    replace (unfair_weight n) with 0; [lra |]. symmetry. unfold unfair_weight.
    assert (E : forall z k m w, parting m z k w = 0).
    { intros z k m. induction m as [| m IH]; intros w; [reflexivity |]. rewrite parting_step.
      destruct (decide _) as [_ | Hne].
      - rewrite (expect_ext noise _ (fun _ => 0)), expect_const by (exact noise_law || (intros; apply IH)). ring.
      - exfalso. apply Hne. exact (proj1 (fair_worlds _ _ asm_unique eq d) Hfair z k w). }
    rewrite (expect_ext population _ (fun _ => 0)); [apply expect_const, population_law |]. intros z.
    rewrite (expect_ext population _ (fun _ => 0)); [apply expect_const, population_law |]. intros k.
    rewrite (expect_ext first_noise _ (fun _ => 0)); [apply expect_const, first_noise_law |]. intros u. apply E.
  Qed.

  (** What V~ is: at each level z, the value of the fair rule "decide as d would, had this person been at level z". *)
  (* label: X7 *)
  Theorem fair_value_is_earned_by_fair_rules abduct (asm_unique : noise_is_read_off model abduct) :
    exists as_at : Z -> history Z S A R -> A,
      (forall z, fair model abduct (as_at z))
      /\ forall n, fair_value n = expect population (fun z => J_observed (fun _ h => surely (as_at z h)) n).
  Proof.
    exists (fun z h => reads z (abduct h)). split.
    - intros z h _ z'. rewrite !(abduct_counterfactual _ _ asm_unique). reflexivity.
    - intros n. unfold fair_value. apply expect_ext. intros z. symmetry.
      etransitivity; [refine (value_is_augmented_value f_1 f_S f_R abduct asm_unique population first_noise noise u_R u_S
        actions gamma R_max population_law noise_law discount R_max_nonneg asm_bounded_reward z _ n _) |].
      + split; [intros; apply surely_is_law |]. intros _. apply fair_is_fair_in_law. intros h _ z'.
        rewrite !(abduct_counterfactual _ _ asm_unique). reflexivity.
      + apply expect_ext. intros u. apply J_ext. intros m w. unfold as_policy. rewrite asm_unique. reflexivity.
  Qed.

  (** Where somebody at level z can get to under the rule. *)
  Inductive followed (z : Z) : trajectory US A UR -> Prop :=
  | followed_start p u : In (p, u) first_noise -> followed z (start u)
  | followed_step w p i : followed z w -> In (p, i) noise -> followed z (moves z w i).

  (** From here on the rule is greedy on scores that are within xi of Q* at the true counterfactual states, wherever
      somebody who is treated by the rule can get to. *)
  Section Greedy.
    Variables (score : history Z S A R -> A -> R) (xi : R).
    Hypothesis xi_nonneg : 0 <= xi.
    Hypothesis greedy_rule : forall h, d h = greedy actions (score h).
    Hypothesis scores_within :
      forall z w a, followed z w -> Rabs (score (z, world z w) a - Q_star M (now w) a) <= xi.

    (* label: X7 *)
    Theorem fair_value_at_least n :
      J_star_CF - 2 * xi * sum n (fun t => gamma ^ t) - gamma ^ n * V <= fair_value n.
    Proof.
      unfold fair_value. apply expect_ge_const; [exact population_law |]. intros z. unfold J_star_CF.
      apply Rle_trans with (expect first_noise (fun u =>
        V_star M (now (start u)) - (2 * xi * sum n (fun t => gamma ^ t) + gamma ^ n * V))).
      - rewrite (expect_minus _ _ (fun _ => 2 * xi * sum n (fun t => gamma ^ t) + gamma ^ n * V)), expect_const
          by exact first_noise_law. lra.
      - apply expect_le_listed; [apply first_noise_law |]. intros p u Hu.
        pose proof (J_at_least_inside M K (reads z) (followed z) (2 * xi)) as L.
        enough (V_star M (now (start u)) - 2 * xi * sum n (fun i => gamma ^ i) - gamma ^ n * V
                <= J M K (fun _ w => surely (reads z w)) n (start u)) by lra.
        apply L.
        + intros w q i Hw Hi. exact (followed_step z w q i Hw Hi).
        + intros w Hw. unfold reads. rewrite greedy_rule.
          pose proof (greedy_loss actions (Q_star M (now w)) (score (z, world z w)) xi
                        (fun a => scores_within z w a Hw)) as G.
          unfold V_star. simpl mdp_actions. simpl memory_state. lra.
        + exact (followed_start z p u Hu).
    Qed.

    (** Theorem 3'', third part: the regret of the fair value, and what it says about J itself. *)
    (* label: X7 *)
    (* label: thm:regret *)
    Theorem regret_of_the_deployed_rule v v_fair p :
      values v v_fair p ->
      J_star_CF - v_fair <= 2 * xi / (1 - gamma) /\ J_star_CF - v <= 2 * xi / (1 - gamma) + 2 * V * p.
    Proof.
      intros H. pose proof (value_of_any_rule _ _ _ H) as [Hp _]. destruct H as [_ [Hf _]].
      assert (L : J_star_CF - v_fair <= 2 * xi / (1 - gamma)).
      { enough (- v_fair <= 2 * xi / (1 - gamma) - J_star_CF) by lra.
        apply (limit_le (fun n => - fair_value n) (- v_fair) _ gamma V discount (V_max_nonneg M)).
        - apply (CV_opp _ _ Hf).
        - intros n. pose proof (fair_value_at_least n).
          pose proof (Rmult_le_compat_l (2 * xi) _ _ ltac:(lra) (geometric_le gamma n discount)). unfold Rdiv. lra. }
      split; [exact L |]. apply abs_bounds in Hp. lra.
    Qed.

    Variable same : forall a b : A, {a = b} + {a <> b}.

    (** E sum_(t<=n) gamma^(t-1) 1{gap of Q* at the true states is at most x}, along the decisions of level z. *)
    Fixpoint small_gaps (x : R) (z : Z) (n : nat) (w : trajectory US A UR) : R :=
      match n with
      | O => 0
      | Datatypes.S m =>
          indicator (gap same actions (Q_star M (now w)) <= x) + gamma * expect noise (fun i => small_gaps x z m (moves z w i))
      end.

    Lemma small_gaps_nonneg x z n : forall w, 0 <= small_gaps x z n w.
    Proof.
      induction n as [| n IH]; intros w; cbn [small_gaps]; [lra |].
      pose proof (indicator_bounds (gap same actions (Q_star M (now w)) <= x)).
      assert (0 <= expect noise (fun i => small_gaps x z n (moves z w i))) by (apply expect_ge_const; auto).
      pose proof (Rmult_le_pos gamma _ (proj1 discount) H0). lra.
    Qed.

    (** Two levels are treated alike wherever the gap exceeds 2 xi. *)
    (* label: thm:cf_metric *)
    Theorem alike_where_the_gap_is_large z k w :
      followed z w -> followed k w -> 2 * xi < gap same actions (Q_star M (now w)) -> reads z w = reads k w.
    Proof.
      intros Hz Hk Hgap. unfold reads. rewrite !greedy_rule.
      rewrite (greedy_is_stable same actions (Q_star M (now w)) (score (z, world z w)) xi), 
              (greedy_is_stable same actions (Q_star M (now w)) (score (k, world k w)) xi); auto.
    Qed.

    Lemma parting_by_small_gaps z k n : forall w,
      followed z w -> followed k w -> parting n z k w <= small_gaps (2 * xi) z n w.
    Proof.
      induction n as [| n IH]; intros w Hz Hk; [unfold parting; simpl; lra |].
      rewrite parting_step. cbn [small_gaps]. destruct (decide (reads z w = reads k w)) as [E | Hne].
      - pose proof (indicator_bounds (gap same actions (Q_star M (now w)) <= 2 * xi)).
        enough (gamma * expect noise (fun i => parting n z k (moves z w i))
                <= gamma * expect noise (fun i => small_gaps (2 * xi) z n (moves z w i))) by lra.
        apply Rmult_le_compat_l; [lra |]. apply expect_le_listed; [apply noise_law |]. intros p i Hi.
        apply IH; [exact (followed_step z w p i Hz Hi) |].
        unfold moves. rewrite E. exact (followed_step k w p i Hk Hi).
      - rewrite indicator_true.
        + assert (0 <= expect noise (fun i => small_gaps (2 * xi) z n (moves z w i)))
            by (apply expect_ge_const; [exact noise_law | intros; apply small_gaps_nonneg]).
          pose proof (Rmult_le_pos gamma _ (proj1 discount) H). lra.
        + apply Rnot_lt_le. intros Hgap. apply Hne. apply alike_where_the_gap_is_large; assumption.
    Qed.

    (** The weight of unfairness is at most the discounted number of visits to small gaps. *)
    (* label: thm:cf_metric *)
    Theorem unfair_weight_by_small_gaps n :
      unfair_weight n <= expect population (fun z => expect first_noise (fun u => small_gaps (2 * xi) z n (start u))).
    Proof.
      unfold unfair_weight. apply expect_le; [apply population_law |]. intros z.
      apply expect_le_const; [exact population_law |]. intros k.
      apply expect_le_listed; [apply first_noise_law |]. intros p u Hu.
      apply parting_by_small_gaps; eapply followed_start; exact Hu.
    Qed.
    (** ** eq:cf_metric along the rule's own path

        The population is treated by the rule, each person at their own level z.  At time t + 1, how often would levels z1 and z2
        have been treated differently, with the same noise and the same past actions? *)

    (** E g(W_(t+1)) for somebody at level z who starts at w. *)
    Fixpoint at_time (t : nat) (z : Z) (g : trajectory US A UR -> R) (w : trajectory US A UR) : R :=
      match t with
      | O => g w
      | Datatypes.S t => expect noise (fun i => at_time t z g (moves z w i))
      end.

    Definition population_mean (t : nat) (g : trajectory US A UR -> R) : R :=
      expect population (fun z => expect first_noise (fun u => at_time t z g (start u))).

    Definition cf_metric (t : nat) (z1 z2 : Z) : R := population_mean t (fun w => indicator (reads z1 w <> reads z2 w)).

    Lemma at_time_le t z g g' : forall w,
      followed z w -> (forall w, followed z w -> g w <= g' w) -> at_time t z g w <= at_time t z g' w.
    Proof.
      induction t as [| t IH]; intros w Hw Hg; simpl; [apply Hg, Hw |].
      apply expect_le_listed; [apply noise_law |]. intros p i Hi. apply IH; [exact (followed_step z w p i Hw Hi) | exact Hg].
    Qed.

    (** ** The fast rate is one of V~, not of J *)

    (** A decision is wrong only where the gap is small, and then costs at most 2 xi. *)
    Lemma loss_by_small_gaps z n : forall w,
      followed z w ->
      V_star M (now w) - J M K (fun _ w => surely (reads z w)) n w <= 2 * xi * small_gaps (2 * xi) z n w + gamma ^ n * V.
    Proof.
      induction n as [| n IH]; intros w Hw.
      - cbn [J small_gaps pow]. rewrite Rmult_0_r, Rminus_0_r, Rmult_1_l, Rplus_0_l. unfold V_star, best.
        pose proof (Q_star_bounded M (now w) (greedy actions (Q_star M (now w)))) as Hb. rewrite Rminus_0_r in Hb.
        apply abs_bounds in Hb. apply Hb.
      - assert (Hloss : V_star M (now w) - Q_star M (now w) (reads z w)
                        <= 2 * xi * indicator (gap same actions (Q_star M (now w)) <= 2 * xi)).
        { unfold V_star, reads. rewrite greedy_rule.
          exact (step_loss_at_small_gaps same actions (Q_star M (now w)) _ xi (fun a => scores_within z w a Hw)). }
        rewrite <- Q_star_is_fixed in Hloss. unfold bellman in Hloss. cbn [J small_gaps].
        rewrite (expect_surely (reads z w)).
        assert (L : expect noise (fun i => mdp_rew M (now w) (reads z w) i
                       + gamma * best actions (Q_star M (mdp_next M (now w) (reads z w) i)))
                    - expect noise (fun i => mdp_rew M (now w) (reads z w) i
                       + gamma * J M K (fun _ w => surely (reads z w)) n (moves z w i))
                    <= gamma * (2 * xi * expect noise (fun i => small_gaps (2 * xi) z n (moves z w i)) + gamma ^ n * V)).
        { rewrite <- expect_minus, <- (expect_const noise (gamma ^ n * V) noise_law), <- expect_scale, <- expect_plus, <- expect_scale.
          apply expect_le_listed; [apply noise_law |]. intros p i Hi.
          pose proof (IH _ (followed_step z w p i Hw Hi)) as L.
          apply Rmult_le_compat_l with (r := gamma) in L; [| lra].
          change (V_star M (now (moves z w i))) with (best actions (Q_star M (mdp_next M (now w) (reads z w) i))) in L. lra. }
        cbn [pow]. unfold moves in L. simpl mdp_law in *. simpl memory_state in *. simpl memory_extend in *.
        simpl mdp_actions in *. simpl mdp_gamma in *. unfold moves. lra.
    Qed.

    Lemma small_gaps_by_time x z n : forall w,
      small_gaps x z n w
      = sum n (fun t => gamma ^ t * at_time t z (fun w => indicator (gap same actions (Q_star M (now w)) <= x)) w).
    Proof.
      induction n as [| n IH]; intros w; [reflexivity |].
      cbn [small_gaps]. rewrite sum_first. cbn [pow at_time]. rewrite Rmult_1_l. f_equal.
      rewrite (expect_ext noise _ _ (fun i => IH (moves z w i))).
      assert (E : forall m (g : nat -> I -> R), expect noise (fun i => sum m (fun t => g t i)) = sum m (fun t => expect noise (g t))).
      { intros m g. induction m as [| m IHm]; simpl; [apply expect_const, noise_law |].
        rewrite (expect_plus noise (fun i => sum m (fun t => g t i))), IHm. reflexivity. }
      rewrite E, <- sum_scale. apply sum_ext. intros t. rewrite expect_scale. ring.
    Qed.

    (** Theorem 5, for the fair value: the margin is asked of the law of the augmented state under the deployed rule. *)
    (* label: thm:regret *)
    (* label: asm:margin *)
    Theorem fast_rate_of_the_fair_value C_m alpha v v_fair p :
      0 < xi -> 0 <= C_m ->
      (forall t, population_mean t (fun w => indicator (gap same actions (Q_star M (now w)) <= 2 * xi))
                 <= C_m * Rpower (2 * xi) alpha) ->
      values v v_fair p -> J_star_CF - v_fair <= C_m * Rpower (2 * xi) (1 + alpha) / (1 - gamma).
    Proof.
      intros Hxi HC Hmargin [_ [Hf _]].
      set (c := C_m * Rpower (2 * xi) (1 + alpha)).
      assert (Ec : 2 * xi * (C_m * Rpower (2 * xi) alpha) = c) by (unfold c; rewrite Rpower_plus, Rpower_1 by lra; ring).
      assert (Hc : 0 <= c) by (unfold c, Rpower; apply Rmult_le_pos; [exact HC | left; apply exp_pos]).
      enough (- v_fair <= c / (1 - gamma) - J_star_CF) by lra.
      apply (limit_le (fun n => - fair_value n) (- v_fair) _ gamma V discount (V_max_nonneg M)); [apply (CV_opp _ _ Hf) |].
      intros n.
      assert (L : J_star_CF - fair_value n
                  <= expect population (fun z => expect first_noise (fun u => 2 * xi * small_gaps (2 * xi) z n (start u)))
                     + gamma ^ n * V).
      { unfold J_star_CF, fair_value.
        rewrite <- (expect_const population (expect first_noise _) population_law), <- expect_minus.
        rewrite <- (expect_const population (gamma ^ n * V) population_law) at 1. rewrite <- expect_plus.
        apply expect_le; [apply population_law |]. intros z.
        rewrite <- (expect_const first_noise (gamma ^ n * V) first_noise_law), <- expect_plus, <- expect_minus.
        apply expect_le_listed; [apply first_noise_law |]. intros q u Hu.
        apply loss_by_small_gaps. exact (followed_start z q u Hu). }
      assert (E : expect population (fun z => expect first_noise (fun u => 2 * xi * small_gaps (2 * xi) z n (start u)))
                  = sum n (fun t => gamma ^ t * (2 * xi * population_mean t (fun w =>
                      indicator (gap same actions (Q_star M (now w)) <= 2 * xi))))).
      { clear - population_law first_noise_law noise_law. unfold population_mean.
        induction n as [| n IH]; simpl sum.
        - rewrite (expect_ext population _ (fun _ => 0)); [apply expect_const, population_law |]. intros z.
          rewrite (expect_ext first_noise _ (fun _ => 0)); [apply expect_const, first_noise_law |]. intros u. simpl. ring.
        - rewrite <- IH, <- !expect_scale, <- expect_plus. apply expect_ext. intros z.
          rewrite <- !expect_scale, <- expect_plus. apply expect_ext. intros u.
          rewrite !small_gaps_by_time. simpl sum. ring. }
      rewrite E in L.
      assert (sum n (fun t => gamma ^ t * (2 * xi * population_mean t (fun w =>
                indicator (gap same actions (Q_star M (now w)) <= 2 * xi)))) <= c / (1 - gamma)).
      { apply Rle_trans with (c * sum n (fun t => gamma ^ t)).
        - rewrite <- sum_scale. apply sum_le. intros t. rewrite (Rmult_comm c).
          apply Rmult_le_compat_l; [apply pow_le; lra |]. rewrite <- Ec. apply Rmult_le_compat_l; [lra | apply Hmargin].
        - apply Rmult_le_compat_l; [exact Hc | apply geometric_le, discount]. }
      lra.
    Qed.

    (** Theorem 4' for the deployed rule: scores are within xi in *every* world of everybody who is treated. *)
    (* label: thm:cf_metric *)
    Theorem cf_metric_is_controlled t z1 z2 :
      (forall z z' w a, followed z w -> Rabs (score (z', world z' w) a - Q_star M (now w) a) <= xi) ->
      cf_metric t z1 z2 <= population_mean t (fun w => indicator (gap same actions (Q_star M (now w)) <= 2 * xi)).
    Proof.
      intros Hall. apply expect_le; [apply population_law |]. intros z.
      apply expect_le_listed; [apply first_noise_law |]. intros p u Hu.
      apply at_time_le; [exact (followed_start z p u Hu) |]. intros w Hw. apply indicator_le. intros Hne.
      apply Rnot_lt_le. intros Hgap. apply Hne. unfold reads. rewrite !greedy_rule.
      rewrite (greedy_is_stable same actions (Q_star M (now w)) (score (z1, world z1 w)) xi),
              (greedy_is_stable same actions (Q_star M (now w)) (score (z2, world z2 w)) xi); eauto.
    Qed.
  End Greedy.
End FairValue.
