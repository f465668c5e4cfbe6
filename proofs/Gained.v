(** * Theorem 3'' under a margin: when is J - V~ of first order?

    J - V~ is at most 2 V times the discounted number of decisions on which the worlds of a person disagree.  Without a margin that
    number need not shrink with the error of the means ([TiesCost]).  Under a margin that counts ties,
    P(gap(s~) <= x) <= C x^alpha, where the gap is best minus second best counted with multiplicity, it is at most
    C (2 L eps_s)^alpha at each time, and so

      |J - V~| <= 2 V C (2 L eps_s)^alpha / (1 - gamma):

    of first order in the error of the states when alpha = 1, and not otherwise. *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import Model Algorithm1 Fairness FairLaws Finite ValueIteration Margin Stationary FairValue.
Import ListNotations.
Open Scope R_scope.

Section Gained.
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

  (** Any deterministic rule. *)
  Variable d : history Z S A R -> A.

  Local Notation model := (stationary_model f_1 f_S f_R).
  Local Notation world := (simulate model).
  Local Notation now := (worlds_now f_1 f_S f_R).
  Local Notation M := (augmented f_S f_R population noise u_R u_S actions gamma R_max
                         population_law noise_law discount R_max_nonneg asm_bounded_reward).
  Local Notation V := (V_max M).
  Local Notation reads := (reads f_1 f_S f_R d).
  Local Notation moves := (moves f_1 f_S f_R u_R u_S d).
  Local Notation followed := (followed f_1 f_S f_R first_noise noise u_R u_S d).
  Local Notation at_time := (at_time f_1 f_S f_R noise u_R u_S d).
  Local Notation population_mean := (population_mean f_1 f_S f_R population first_noise noise u_R u_S d).
  Local Notation parting := (parting f_1 f_S f_R noise u_R u_S gamma d).
  Local Notation unfair_weight := (unfair_weight f_1 f_S f_R population first_noise noise u_R u_S gamma d).
  Local Notation J_deployed := (J_deployed f_1 f_S f_R population first_noise noise u_R u_S gamma d).
  Local Notation fair_value := (fair_value f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
                                  population_law noise_law discount R_max_nonneg asm_bounded_reward d).
  Local Notation values := (values f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
                              population_law noise_law discount R_max_nonneg asm_bounded_reward d).
  Local Notation J_star_CF := (J_star_CF f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
                                 population_law noise_law discount R_max_nonneg asm_bounded_reward).

  (** P(worlds disagree at time t + 1): everybody is treated by the rule at their own level z.  How often would the rule have
      decided otherwise, with the same noise and the same past actions, at a level k that is drawn like z and apart from it? *)
  Definition disagreement (t : nat) : R :=
    expect population (fun z => expect population (fun k => expect first_noise (fun u =>
      at_time t z (fun w => indicator (reads z w <> reads k w)) (start u)))).

  (** ** Any rule: what is gained is bounded by the disagreement of the worlds *)

  Lemma at_time_nonneg t z g : (forall w, 0 <= g w) -> forall w, 0 <= at_time t z g w.
  Proof.
    intros Hg. induction t as [| t IH]; intros w; cbn; [apply Hg |].
    apply expect_ge_const; [exact noise_law |]. intros i. apply IH.
  Qed.

  (** The first time apart. *)
  Lemma visits_step z g n w :
    sum (Datatypes.S n) (fun t => gamma ^ t * at_time t z g w)
    = g w + gamma * expect noise (fun i => sum n (fun t => gamma ^ t * at_time t z g (moves z w i))).
  Proof.
    rewrite sum_first. cbn [pow at_time FairValue.at_time]. rewrite Rmult_1_l. f_equal.
    assert (E : forall m (h : nat -> I -> R), expect noise (fun i => sum m (fun t => h t i)) = sum m (fun t => expect noise (h t))).
    { intros m h. induction m as [| m IHm]; simpl; [apply expect_const, noise_law |].
      rewrite (expect_plus noise (fun i => sum m (fun t => h t i))), IHm. reflexivity. }
    rewrite E, <- sum_scale. apply sum_ext. intros t. rewrite expect_scale. ring.
  Qed.

  Lemma parting_by_disagreement z k n : forall w,
    parting n z k w <= sum n (fun t => gamma ^ t * at_time t z (fun w => indicator (reads z w <> reads k w)) w).
  Proof.
    induction n as [| n IH]; intros w; [unfold FairValue.parting; simpl; lra |].
    rewrite parting_step by exact noise_law. rewrite visits_step.
    assert (later : gamma * expect noise (fun i => parting n z k (moves z w i))
                    <= gamma * expect noise (fun i => sum n (fun t => gamma ^ t
                         * at_time t z (fun w => indicator (reads z w <> reads k w)) (moves z w i)))).
    { apply Rmult_le_compat_l; [lra |]. apply expect_le; [apply noise_law |]. intros i. apply IH. }
    assert (0 <= gamma * expect noise (fun i => parting n z k (moves z w i))).
    { apply Rmult_le_pos; [lra |]. apply expect_ge_const; [exact noise_law |]. intros i. apply parting_bounds; assumption. }
    destruct (decide _) as [E | Hne].
    - rewrite (indicator_false (reads z w <> reads k w)) by (intros H'; apply H', E). lra.
    - rewrite (indicator_true _ Hne). lra.
  Qed.

  Lemma unfair_weight_by_disagreement n : unfair_weight n <= sum n (fun t => gamma ^ t * disagreement t).
  Proof.
    apply Rle_trans with (expect population (fun z => expect population (fun k => expect first_noise (fun u =>
      sum n (fun t => gamma ^ t * at_time t z (fun w => indicator (reads z w <> reads k w)) (start u)))))).
    - apply expect_le; [apply population_law |]. intros z. apply expect_le; [apply population_law |]. intros k.
      apply expect_le; [apply first_noise_law |]. intros u. apply parting_by_disagreement.
    - right. unfold disagreement. rewrite <- expect_discounted_sum. apply expect_ext. intros z.
      rewrite <- expect_discounted_sum. apply expect_ext. intros k. rewrite <- expect_discounted_sum. reflexivity.
  Qed.

  (** |J - V~| <= 2 V sum_t gamma^(t-1) P(worlds disagree at t), for any deterministic rule and any horizon. *)
  (* label: X7 *)
  Theorem gained_at_most_disagreement n :
    Rabs (J_deployed n - fair_value n) <= 2 * V * sum n (fun t => gamma ^ t * disagreement t).
  Proof.
    eapply Rle_trans; [apply gained_by_unfairness; exact first_noise_law |].
    apply Rmult_le_compat_l; [pose proof (V_max_nonneg M); lra | apply unfair_weight_by_disagreement].
  Qed.

  (** In the limit: if the worlds disagree with probability at most c at each time, then |J - V~| <= 2 V c / (1 - gamma). *)
  (* label: X7 *)
  Theorem gained_if_disagreement_is_rare c v v_fair p :
    (forall t, disagreement t <= c) -> values v v_fair p -> Rabs (v - v_fair) <= 2 * V * (c / (1 - gamma)).
  Proof.
    intros Hc H. assert (0 <= c).
    { apply Rle_trans with (2 := Hc O). unfold disagreement. apply expect_ge_const; [exact population_law |]. intros z.
      apply expect_ge_const; [exact population_law |]. intros k. apply expect_ge_const; [exact first_noise_law |]. intros u.
      apply at_time_nonneg. intros w. apply indicator_bounds. }
    pose proof (value_of_any_rule f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max population_law
                  first_noise_law noise_law discount R_max_nonneg asm_bounded_reward d _ _ _ H) as [L _].
    apply Rle_trans with (1 := L). apply Rmult_le_compat_l; [pose proof (V_max_nonneg M); lra |].
    destruct H as [_ [_ Hp]].
    apply (limit_le _ _ _ gamma 0 discount (Rle_refl 0) Hp). intros n. rewrite Rmult_0_r, Rplus_0_r.
    apply Rle_trans with (1 := unfair_weight_by_disagreement n).
    apply Rle_trans with (c * sum n (fun t => gamma ^ t)).
    - rewrite <- sum_scale. apply sum_le. intros t. rewrite (Rmult_comm c). apply Rmult_le_compat_l; [apply pow_le; lra | apply Hc].
    - apply Rmult_le_compat_l; [assumption | apply geometric_le, discount].
  Qed.

  (** ** Greedy rules under a margin *)

  Variable same : forall a b : A, {a = b} + {a <> b}.

  (** P(gap <= x) at time t + 1, for the action values g at the true counterfactual states, along the deployed rule.  A tie has gap 0
      and counts for every x. *)
  Definition small_gap_probability (g : (Z -> S) -> A -> R) (t : nat) (x : R) : R :=
    population_mean t (fun w => indicator (gap same actions (g (now w)) <= x)).

  Section Greedy.
    (** The rule is greedy on scores; in every world of everybody who is treated they are within c of action values g of the true
        counterfactual states.  g may be Q*, or the learned function itself. *)
    Variables (score : history Z S A R -> A -> R) (g : (Z -> S) -> A -> R) (c : R).
    Hypothesis greedy_rule : forall h, d h = greedy actions (score h).
    Hypothesis scores_near :
      forall z k w a, followed z w -> Rabs (score (k, world k w) a - g (now w) a) <= c.

    Lemma disagreement_by_small_gaps t : disagreement t <= small_gap_probability g t (2 * c).
    Proof.
      unfold disagreement, small_gap_probability, FairValue.population_mean.
      apply expect_le; [apply population_law |]. intros z. apply expect_le_const; [exact population_law |]. intros k.
      apply expect_le_listed; [apply first_noise_law |]. intros q u Hu.
      apply (at_time_le f_1 f_S f_R first_noise noise u_R u_S noise_law d t z); [exact (followed_start _ _ _ _ _ _ _ _ z q u Hu) |].
      intros w Hw. apply indicator_le. intros Hne. apply Rnot_lt_le. intros Hgap. apply Hne.
      unfold FairValue.reads. rewrite !greedy_rule.
      rewrite (greedy_is_stable same actions (g (now w)) (score (z, world z w)) c),
              (greedy_is_stable same actions (g (now w)) (score (k, world k w)) c); auto; intros a; eapply scores_near; eauto.
    Qed.

    (** n steps. *)
    (* label: X7 *)
    (* label: asm:margin *)
    Theorem gained_under_margin_in_n_steps C_m alpha n :
      (forall t, small_gap_probability g t (2 * c) <= C_m * Rpower (2 * c) alpha) ->
      Rabs (J_deployed n - fair_value n) <= 2 * V * (C_m * Rpower (2 * c) alpha) * sum n (fun t => gamma ^ t).
    Proof.
      intros Hm. apply Rle_trans with (1 := gained_at_most_disagreement n).
      rewrite (Rmult_assoc (2 * V)). apply Rmult_le_compat_l; [pose proof (V_max_nonneg M); lra |].
      rewrite <- sum_scale. apply sum_le. intros t. rewrite (Rmult_comm _ (gamma ^ t)).
      apply Rmult_le_compat_l; [apply pow_le; lra |]. apply Rle_trans with (1 := disagreement_by_small_gaps t). apply Hm.
    Qed.

    (** The limit. *)
    (* label: X7 *)
    (* label: asm:margin *)
    Theorem gained_under_margin C_m alpha v v_fair p :
      (forall t, small_gap_probability g t (2 * c) <= C_m * Rpower (2 * c) alpha) ->
      values v v_fair p -> Rabs (v - v_fair) <= 2 * V * (C_m * Rpower (2 * c) alpha / (1 - gamma)).
    Proof.
      intros Hm. apply gained_if_disagreement_is_rare. intros t.
      apply Rle_trans with (1 := disagreement_by_small_gaps t). apply Hm.
    Qed.
  End Greedy.

  (** ** The deployed rule: greedy on f at estimated states *)

  Section Estimated.
    Variables (f : (Z -> S) -> A -> R) (estimate : history Z S A R -> Z -> S) (distance : (Z -> S) -> (Z -> S) -> R) (eps_s : R).
    Hypothesis greedy_rule : forall h, d h = greedy actions (f (estimate h)).
    (** Estimates are within eps_s of the truth in every world of everybody who is treated. *)
    Hypothesis estimates_within : forall z k w, followed z w -> distance (estimate (k, world k w)) (now w) <= eps_s.

    (** The margin corollary: f is L-Lipschitz, P(gap of f <= x) <= C_m x^alpha with ties counted; J - V~ is of order
        (2 L eps_s)^alpha.  The error of f itself does not enter. *)
    (* label: X7 *)
    (* label: asm:margin *)
    Theorem gained_by_estimated_states L C_m alpha v v_fair p :
      0 < L * eps_s -> 0 <= L ->
      (forall x y a, Rabs (f x a - f y a) <= L * distance x y) ->
      (forall t x, 0 < x -> small_gap_probability f t x <= C_m * Rpower x alpha) ->
      values v v_fair p -> Rabs (v - v_fair) <= 2 * V * (C_m * Rpower (2 * (L * eps_s)) alpha / (1 - gamma)).
    Proof.
      intros Hpos HL Hf Hm. apply (gained_under_margin (fun h => f (estimate h)) f).
      - exact greedy_rule.
      - intros z k w a Hw. apply Rle_trans with (1 := Hf _ _ a). apply Rmult_le_compat_l; [exact HL |].
        exact (estimates_within z k w Hw).
      - intros t. apply Hm. lra.
    Qed.

    (** The same with the margin of Q*, and what it says about the regret of J itself: with xi' = xi + L_Q eps_s,
        J*_CF - J <= C_m (2 xi')^(1 + alpha) / (1 - gamma) + 2 V C_m (2 xi')^alpha / (1 - gamma). *)
    (* label: X7 *)
    (* label: thm:regret *)
    (* label: asm:margin *)
    Theorem regret_of_the_deployed_rule_under_margin xi L_Q C_m alpha v v_fair p :
      0 < xi + L_Q * eps_s -> 0 <= L_Q -> 0 <= C_m ->
      close xi f (Q_star M) ->
      (forall x y a, Rabs (Q_star M x a - Q_star M y a) <= L_Q * distance x y) ->
      (forall t x, 0 < x -> small_gap_probability (Q_star M) t x <= C_m * Rpower x alpha) ->
      values v v_fair p ->
      let xi' := xi + L_Q * eps_s in
      Rabs (v - v_fair) <= 2 * V * (C_m * Rpower (2 * xi') alpha / (1 - gamma))
      /\ J_star_CF - v_fair <= C_m * Rpower (2 * xi') (1 + alpha) / (1 - gamma)
      /\ J_star_CF - v
         <= C_m * Rpower (2 * xi') (1 + alpha) / (1 - gamma) + 2 * V * (C_m * Rpower (2 * xi') alpha / (1 - gamma)).
    Proof.
      intros Hpos HL HC Hf HQ Hm Hv xi'.
      assert (near : forall z k w a, followed z w -> Rabs (f (estimate (k, world k w)) a - Q_star M (now w) a) <= xi').
      { intros z k w a Hw. pose proof (Hf (estimate (k, world k w)) a). pose proof (HQ (estimate (k, world k w)) (now w) a).
        pose proof (Rmult_le_compat_l _ _ _ HL (estimates_within z k w Hw)).
        replace (f (estimate (k, world k w)) a - Q_star M (now w) a)
          with ((f (estimate (k, world k w)) a - Q_star M (estimate (k, world k w)) a)
                + (Q_star M (estimate (k, world k w)) a - Q_star M (now w) a)) by ring.
        apply Rle_trans with (1 := Rabs_triang _ _). unfold xi'. lra. }
      assert (gained : Rabs (v - v_fair) <= 2 * V * (C_m * Rpower (2 * xi') alpha / (1 - gamma))).
      { apply (gained_under_margin (fun h => f (estimate h)) (Q_star M) xi' greedy_rule near C_m alpha v v_fair p); [| exact Hv].
        intros t. apply Hm. unfold xi'. lra. }
      assert (fast : J_star_CF - v_fair <= C_m * Rpower (2 * xi') (1 + alpha) / (1 - gamma)).
      { apply (fast_rate_of_the_fair_value f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max population_law
                 first_noise_law noise_law discount R_max_nonneg asm_bounded_reward d (fun h => f (estimate h)) xi') with (same := same) (p := p)
                 (v := v); auto; try (unfold xi'; lra).
        - intros z w a Hw. exact (near z z w a Hw).
        - intros t. apply Hm. unfold xi'. lra. }
      split; [exact gained |]. split; [exact fast |]. apply abs_bounds in gained. lra.
    Qed.
  End Estimated.
End Gained.
