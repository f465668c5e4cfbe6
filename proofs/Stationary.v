(** * thm:sr_policy: the best fair policy reads the current counterfactual states alone

    A stationary structural model: the equations and the law of the noise do not change with time, and the noise of a step is
    drawn afresh.  Noise has finitely many values; states and levels are arbitrary; rewards are bounded.  Among *all* fair
    policies, reading the whole past and randomising as they like, one that reads only the current state of each
    world is optimal - for a finite horizon together with the number of steps to go, for an infinite one by itself. *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import Model Algorithm1 Fairness FairLaws Finite ValueIteration Perturbation.
Import ListNotations.
Open Scope R_scope.

Section Stationary.
  Context {Z S A US UR I : Type}.

  (** The structural equations. *)
  Variables (f_1 : Z -> US -> S) (f_S : Z -> S -> A -> US -> S) (f_R : Z -> S -> A -> UR -> R).

  Definition stationary_model : structural_model Z S A R US UR := {|
    first_state := f_1;
    reward z h a u := f_R z (current h) a u;
    next_state z h a _ u := f_S z (current h) a u
  |}.

  Local Notation world := (simulate stationary_model).

  (** asm:unique *)
  Variable abduct : history Z S A R -> trajectory US A UR.
  Hypothesis asm_unique : noise_is_read_off stationary_model abduct.

  (** The law of Z, of U_1, and of the noise of one step, whose value number i is (u_R i, u_S i). *)
  Variables (population : list (R * Z)) (first_noise : list (R * US)) (noise : list (R * I)).
  Variables (u_R : I -> UR) (u_S : I -> US) (actions : finite_actions A) (gamma R_max : R).
  Hypothesis population_law : is_law population.
  Hypothesis first_noise_law : is_law first_noise.
  Hypothesis noise_law : is_law noise.
  Hypothesis discount : 0 <= gamma < 1.
  Hypothesis R_max_nonneg : 0 <= R_max.
  Hypothesis asm_bounded_reward : forall k s a i, Rabs (f_R k s a (u_R i)) <= R_max.

  (** ** The value of a rule in the original process *)

  (** A rule reads the history, and may read the number of steps to go; its decision is a law over actions. *)
  Definition rule : Type := nat -> history Z S A R -> list (R * A).
  Definition fair_rule (rho : rule) : Prop :=
    (forall n h, is_law (rho n h)) /\ forall n, fair_in_law stationary_model abduct (rho n).

  (** Expected discounted reward of n further steps of a person at level k with noise w so far. *)
  Fixpoint earned (rho : rule) (k : Z) (n : nat) (w : trajectory US A UR) : R :=
    match n with
    | O => 0
    | Datatypes.S m =>
        expect (rho n (k, world k w)) (fun a =>
          expect noise (fun i =>
            f_R k (current (world k w)) a (u_R i) + gamma * earned rho k m (step w a (u_R i) (u_S i))))
    end.

  (** J of the first n steps: people, first states, later noise and actions all averaged; rewards are the observed ones. *)
  Definition J_rule (rho : rule) (n : nat) : R :=
    expect population (fun k => expect first_noise (fun u => earned rho k n (start u))).

  (** ** The augmented process *)

  (** The augmented state: the current state in every world. *)
  Definition worlds_now (w : trajectory US A UR) (k : Z) : S := current (world k w).

  (** Its reward is the P(Z)-weighted reward of alg:cf:1, line 9. *)
  Definition augmented : mdp (Z -> S) A I.
  Proof.
    refine {|
      mdp_actions := actions;
      mdp_law := fun _ _ => noise;
      mdp_next := fun x a i k => f_S k (x k) a (u_S i);
      mdp_rew := fun x a i => expect population (fun k => f_R k (x k) a (u_R i));
      mdp_gamma := gamma; mdp_R_max := R_max
    |}; try assumption.
    - intros _ _. exact noise_law.
    - intros x a i. rewrite <- (Rminus_0_r (expect _ _)), <- (expect_const population 0 population_law).
      apply expect_close; [exact population_law |]. intros k. rewrite Rminus_0_r. apply asm_bounded_reward.
  Defined.

  Definition augmented_memory : memory augmented (trajectory US A UR).
  Proof.
    refine (Build_memory _ _ _ augmented _ worlds_now (fun w a i => step w a (u_R i) (u_S i)) _). reflexivity.
  Defined.

  Local Notation J_augmented := (J augmented augmented_memory).

  (** Any level will do to write down what a fair rule does. *)
  Variable z1 : Z.
  Definition as_policy (rho : rule) (n : nat) (w : trajectory US A UR) : list (R * A) := rho n (z1, world z1 w).

  Lemma earned_is_augmented rho n w :
    fair_rule rho -> expect population (fun k => earned rho k n w) = J_augmented (as_policy rho) n w.
  Proof.
    intros [Hlaw Hfair]. revert w. induction n as [| n IH]; intros w; cbn [earned J].
    - apply expect_const, population_law.
    - rewrite (expect_ext population _ (fun k =>
        expect (as_policy rho (Datatypes.S n) w) (fun a => expect noise (fun i =>
          f_R k (current (world k w)) a (u_R i) + gamma * earned rho k n (step w a (u_R i) (u_S i)))))).
      + rewrite expect_swap. apply expect_ext. intros a. rewrite expect_swap. apply expect_ext. intros i.
        rewrite expect_plus, expect_scale, IH. reflexivity.
      + intros k. apply same_law_means.
        exact (proj1 (fair_worlds _ _ asm_unique same_law _) (Hfair (Datatypes.S n)) k z1 w).
  Qed.

  (** Supplement C: for fair rules, the value with observed rewards is the value with weighted rewards. *)
  (* label: thm:sr_policy *)
  (* label: C12 *)
  Theorem value_is_augmented_value rho n :
    fair_rule rho -> J_rule rho n = expect first_noise (fun u => J_augmented (as_policy rho) n (start u)).
  Proof.
    intros Hrho. unfold J_rule. rewrite expect_swap. apply expect_ext. intros u. apply earned_is_augmented, Hrho.
  Qed.

  Lemma as_policy_legal rho : fair_rule rho -> forall n w, is_law (as_policy rho n w).
  Proof. intros [Hlaw _] n w. apply Hlaw. Qed.

  (** Rules that read the current states of all worlds, and perhaps the number of steps to go. *)
  Definition reads_worlds_now (g : nat -> (Z -> S) -> A) : rule :=
    fun n h => surely (g n (worlds_now (abduct h))).

  Lemma reads_worlds_now_fair g : fair_rule (reads_worlds_now g).
  Proof.
    split; [intros n h; apply surely_is_law |]. intros n h _ z'. unfold reads_worlds_now.
    rewrite !(abduct_counterfactual _ _ asm_unique). reflexivity.
  Qed.

  Lemma reads_worlds_now_policy g n w : as_policy (reads_worlds_now g) n w = surely (g n (worlds_now w)).
  Proof. unfold as_policy, reads_worlds_now. rewrite asm_unique. reflexivity. Qed.

  (** ** Finite horizon *)

  (** For every horizon at once: the best fair rule reads the current states and the number of steps to go. *)
  (* label: thm:sr_policy *)
  Theorem finite_horizon_optimum :
    exists g : nat -> (Z -> S) -> A,
      fair_rule (reads_worlds_now g)
      /\ forall rho n, fair_rule rho -> J_rule rho n <= J_rule (reads_worlds_now g) n.
  Proof.
    exists (fun n x => greedy actions (iterate augmented n x)). split; [apply reads_worlds_now_fair |].
    intros rho n Hrho. rewrite !value_is_augmented_value by (assumption || apply reads_worlds_now_fair).
    apply expect_le; [apply first_noise_law |]. intros u.
    rewrite (J_ext _ _ (as_policy (reads_worlds_now _)) (backward_greedy augmented augmented_memory))
      by (intros; apply reads_worlds_now_policy).
    rewrite J_backward_greedy. apply J_at_most_V_finite, as_policy_legal, Hrho.
  Qed.

  (** ** Infinite horizon *)

  (** The discounted value of a rule that does not read the steps to go. *)
  Definition has_J (rho : history Z S A R -> list (R * A)) (v : R) : Prop := Un_cv (J_rule (fun _ => rho)) v.

  (** Every fair rule has a value. *)
  (* label: thm:sr_policy *)
  Theorem fair_rules_have_values rho : fair_rule (fun _ => rho) -> exists v, has_J rho v.
  Proof.
    intros Hrho. unfold has_J.
    destruct (R_complete (J_rule (fun _ => rho))) as [v Hv]; [| exists v; exact Hv].
    apply geometric_cauchy with gamma (V_max augmented); [assumption | apply V_max_nonneg |].
    intros n m. rewrite !value_is_augmented_value by assumption.
    apply expect_close; [exact first_noise_law |]. intros u.
    apply (J_tail augmented augmented_memory (as_policy (fun _ => rho) 0)).
    intros w. apply (as_policy_legal _ Hrho O).
  Qed.

  (** E V*(S_1, all worlds): what the augmented process is worth under its own optimal value function. *)
  Definition augmented_optimum : R := expect first_noise (fun u => V_star augmented (worlds_now (start u))).

  (** The same over n steps. *)
  Definition augmented_finite_optimum (n : nat) : R :=
    expect first_noise (fun u => V_finite augmented n (worlds_now (start u))).

  (** Greedy on Q* of the current states of all worlds. *)
  Definition greedy_on_worlds (x : Z -> S) : A := greedy actions (Q_star augmented x).

  Definition optimal_rule (h : history Z S A R) : list (R * A) := surely (greedy_on_worlds (worlds_now (abduct h))).

  Lemma optimal_rule_is_fair : fair_rule (fun _ => optimal_rule).
  Proof. exact (reads_worlds_now_fair (fun _ => greedy_on_worlds)). Qed.

  Lemma optimal_rule_attains : has_J optimal_rule augmented_optimum.
  Proof.
    apply Un_cv_ext with (fun n => expect first_noise (fun u =>
      J_augmented (fun _ => greedy_for augmented (fun w => Q_star augmented (worlds_now w))) n (start u))).
    - intros n. symmetry. etransitivity; [exact (value_is_augmented_value _ n optimal_rule_is_fair) |].
      apply expect_ext. intros u. apply J_ext. intros m w. exact (reads_worlds_now_policy (fun _ => greedy_on_worlds) m w).
    - apply expect_limit with
        (f := fun n u => J_augmented (fun _ => greedy_for augmented (fun w => Q_star augmented (worlds_now w))) n (start u)).
      intros u. apply (V_star_is_attained augmented augmented_memory (start u)).
  Qed.

  Lemma fair_value_below_optimum rho v : fair_rule (fun _ => rho) -> has_J rho v -> v <= augmented_optimum.
  Proof.
    intros Hrho Hv. apply (limit_le (J_rule (fun _ => rho)) v _ gamma (V_max augmented)); auto.
    - apply V_max_nonneg.
    - intros n. rewrite (value_is_augmented_value _ n Hrho).
      apply Rle_trans with
        (expect first_noise (fun u => V_star augmented (worlds_now (start u)) + gamma ^ n * V_max augmented)).
      + apply expect_le; [apply first_noise_law |]. intros u.
        apply (J_at_most_V_star augmented augmented_memory). apply as_policy_legal, Hrho.
      + unfold augmented_optimum.
        rewrite (expect_plus _ _ (fun _ => gamma ^ n * V_max augmented)), expect_const by exact first_noise_law. lra.
  Qed.

  (** J(pi_opt) = sup over all fair policies, with pi_opt fair, deterministic, stationary. *)
  (* label: thm:sr_policy *)
  Theorem stationary_optimum :
    exists g : (Z -> S) -> A,
      let pi_opt := fun h : history Z S A R => surely (g (worlds_now (abduct h))) in
      fair stationary_model abduct pi_opt
      /\ exists v_opt, has_J pi_opt v_opt
         /\ forall rho v, fair_rule (fun _ => rho) -> has_J rho v -> v <= v_opt.
  Proof.
    exists greedy_on_worlds. split.
    - intros h _ z'. rewrite !(abduct_counterfactual _ _ asm_unique). reflexivity.
    - exists augmented_optimum. split; [exact optimal_rule_attains | exact fair_value_below_optimum].
  Qed.

  (** J*_CF, defined as a supremum over fair rules (history-dependent and randomised), is E V* of the augmented process: the
      least upper bound of the values of all fair rules.  By [stationary_optimum] it is attained. *)
  (* label: thm:sr_policy *)
  (* label: C12 *)
  Theorem supremum_over_fair_rules :
    is_lub (fun v => exists rho, fair_rule (fun _ => rho) /\ has_J rho v) augmented_optimum.
  Proof.
    split.
    - intros v [rho [Hrho Hv]]. exact (fair_value_below_optimum rho v Hrho Hv).
    - intros b Hb. apply Hb. exists optimal_rule. split; [exact optimal_rule_is_fair | exact optimal_rule_attains].
  Qed.

  (** The same over n steps; rules may then read the steps to go as well. *)
  (* label: thm:sr_policy *)
  (* label: C12 *)
  Theorem finite_supremum_over_fair_rules n :
    is_lub (fun v => exists rho, fair_rule rho /\ v = J_rule rho n) (augmented_finite_optimum n).
  Proof.
    split.
    - intros v [rho [Hrho ->]]. rewrite (value_is_augmented_value _ n Hrho).
      apply expect_le; [apply first_noise_law |]. intros u. apply J_at_most_V_finite, as_policy_legal, Hrho.
    - intros b Hb. apply Hb. exists (reads_worlds_now (fun n x => greedy actions (iterate augmented n x))).
      split; [apply reads_worlds_now_fair |]. rewrite value_is_augmented_value by apply reads_worlds_now_fair.
      unfold augmented_finite_optimum. apply expect_ext. intros u.
      rewrite (J_ext _ _ (as_policy (reads_worlds_now _)) (backward_greedy augmented augmented_memory))
        by (intros; apply reads_worlds_now_policy).
      symmetry. apply J_backward_greedy.
  Qed.
End Stationary.

(** ** Under additive noise: alg:cf:1 produces the state that the optimal policy reads *)

Section Additive.
  Context {Z A I : Type} {S : abelian_group}.
  Variable mu : means Z A S real_line.

  Let f_1 (z : Z) (u : S) : S := (initial_mean mu z + u)%G.
  Let f_S (z : Z) (s : S) (a : A) (u : S) : S := (state_mean mu s a z + u)%G.
  Let f_R (z : Z) (s : S) (a : A) (u : R) : R := reward_mean mu s a z + u.

  (** With exact means, the newest list that alg:cf:1 returns is the augmented state, level by level. *)
  (* label: alg:cf:1 *)
  Theorem algorithm1_returns_the_augmented_state (levels : list Z) (h : history Z S A real_line) :
    current (algorithm1 levels mu (fst h) (snd h)) = map (worlds_now f_1 f_S f_R (abduct mu h)) levels.
  Proof.
    rewrite algorithm1_current. apply map_ext. intros k.
    rewrite (every_history_has_its_noise mu h) at 1. rewrite estimated_world_exact. reflexivity.
  Qed.

  (** thm:sr_policy with asm:unique discharged. *)
  (* label: thm:sr_policy *)
  Theorem additive_stationary_optimum
    (population : list (R * Z)) (first_noise : list (R * S)) (noise : list (R * I)) (u_R : I -> R) (u_S : I -> S)
    (actions : finite_actions A) (gamma R_max : R) (z1 : Z) :
    is_law population -> is_law first_noise -> is_law noise -> 0 <= gamma < 1 -> 0 <= R_max ->
    (forall k s a i, Rabs (reward_mean mu s a k + u_R i) <= R_max) ->
    exists g : (Z -> S) -> A,
      let pi_opt := fun h : history Z S A R => surely (g (worlds_now f_1 f_S f_R (abduct mu h))) in
      let has_J := has_J f_1 f_S f_R population first_noise noise u_R u_S gamma in
      fair (additive mu) (abduct mu) pi_opt
      /\ exists v_opt, has_J pi_opt v_opt
         /\ forall rho v, fair_rule f_1 f_S f_R (abduct mu) (fun _ => rho) -> has_J rho v -> v <= v_opt.
  Proof.
    intros Hp H1 Hn Hg HR Hb.
    exact (stationary_optimum f_1 f_S f_R (abduct mu) (noise_is_a_function_of_the_history mu)
             population first_noise noise u_R u_S actions gamma R_max Hp H1 Hn Hg HR Hb z1).
  Qed.
End Additive.
