(** * Value iteration, Q*, and what acting on an approximate Q costs

    X is any set of states, W any set of outcomes; from state x under action a the outcome w has a finite law, pays
    [rew x a w] and leads to [next x a w].  Distances between functions are written out: [close c f g] says that
    |f - g| <= c everywhere. *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import Finite.
Import ListNotations.
Open Scope R_scope.

Definition close {X A : Type} (c : R) (f g : X -> A -> R) : Prop := forall x a, Rabs (f x a - g x a) <= c.

Lemma close_triangle {X A : Type} (c d : R) (f g h : X -> A -> R) : close c f g -> close d g h -> close (c + d) f h.
Proof.
  intros Hfg Hgh x a. replace (f x a - h x a) with ((f x a - g x a) + (g x a - h x a)) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). specialize (Hfg x a). specialize (Hgh x a). lra.
Qed.

Lemma close_sym {X A : Type} (c : R) (f g : X -> A -> R) : close c f g -> close c g f.
Proof. intros H x a. rewrite Rabs_minus_sym. apply H. Qed.

Lemma close_le {X A : Type} (c d : R) (f g : X -> A -> R) : c <= d -> close c f g -> close d f g.
Proof. intros Hcd H x a. specialize (H x a). lra. Qed.

(** ** One-step errors under a contraction *)

Section Propagation.
  Context {X A : Type}.
  Variables (T : (X -> A -> R) -> (X -> A -> R)) (gamma : R).
  Hypothesis contraction : forall c f g, close c f g -> close (gamma * c) (T f) (T g).
  Variables (Q : X -> A -> R) (f : nat -> X -> A -> R) (e : nat -> R) (c0 : R).
  Hypothesis fixed_point : forall x a, T Q x a = Q x a.
  Hypothesis one_step : forall b, close (e b) (f (S b)) (T (f b)).
  Hypothesis initial_error : close c0 (f O) Q.

  (** D3, with the initial error kept: the b-th error has B-1-b further contractions ahead of it. *)
  (* label: D3 *)
  Theorem errors_propagate (B : nat) :
    close (sum B (fun t => gamma ^ t * e (B - 1 - t)%nat) + gamma ^ B * c0) (f B) Q.
  Proof.
    induction B as [| B IH].
    - apply close_le with c0; [simpl; lra | exact initial_error].
    - apply close_le with (e B + gamma * (sum B (fun t => gamma ^ t * e (B - 1 - t)%nat) + gamma ^ B * c0)).
      + rewrite sum_first. simpl (gamma ^ 0). replace (S B - 1 - 0)%nat with B by lia.
        rewrite (sum_ext B (fun i => gamma ^ S i * e (S B - 1 - S i)%nat)
                           (fun i => gamma * (gamma ^ i * e (B - 1 - i)%nat))).
        * rewrite sum_scale. simpl. lra.
        * intros i. replace (S B - 1 - S i)%nat with (B - 1 - i)%nat by lia. simpl. ring.
      + apply close_triangle with (T (f B)); [apply one_step |].
        intros x a. rewrite <- fixed_point. apply contraction, IH.
  Qed.

  (** With a common bound e on the one-step errors: ||f_B - Q*|| <= e / (1 - gamma) + gamma^B ||f_0 - Q*||. *)
  (* label: alg:cf:2 *)
  Theorem fitted_iteration_error (bound : R) (B : nat) :
    0 <= gamma < 1 -> 0 <= bound -> (forall b, e b <= bound) ->
    close (bound / (1 - gamma) + gamma ^ B * c0) (f B) Q.
  Proof.
    intros Hg Hb He. apply close_le with (2 := errors_propagate B). apply Rplus_le_compat_r.
    apply Rle_trans with (bound * sum B (fun t => gamma ^ t)).
    - rewrite <- sum_scale. apply sum_le. intros t. rewrite Rmult_comm.
      apply Rmult_le_compat_r; [apply pow_le; lra | apply He].
    - apply Rmult_le_compat_l; [assumption | apply geometric_le; assumption].
  Qed.
End Propagation.

(** ** The Bellman optimality operator and Q* *)

Record mdp (X A W : Type) : Type := {
  mdp_actions : finite_actions A;
  mdp_law : X -> A -> list (R * W);
  mdp_next : X -> A -> W -> X;
  mdp_rew : X -> A -> W -> R;
  mdp_gamma : R;
  mdp_R_max : R;
  mdp_laws : forall x a, is_law (mdp_law x a);
  mdp_bounded : forall x a w, Rabs (mdp_rew x a w) <= mdp_R_max;
  mdp_discount : 0 <= mdp_gamma < 1;
  mdp_R_max_nonneg : 0 <= mdp_R_max
}.

Arguments mdp_actions {X A W}.
Arguments mdp_law {X A W}.
Arguments mdp_next {X A W}.
Arguments mdp_rew {X A W}.
Arguments mdp_gamma {X A W}.
Arguments mdp_R_max {X A W}.
Arguments mdp_laws {X A W}.
Arguments mdp_bounded {X A W}.
Arguments mdp_discount {X A W}.
Arguments mdp_R_max_nonneg {X A W}.

(** What a policy may have seen.  [state] is where the process stands, [extend] records one more step; a policy may read
    all of H, be it the current state, the whole past, or estimates made from it. *)
Record memory {X A W : Type} (M : mdp X A W) (H : Type) : Type := {
  memory_state : H -> X;
  memory_extend : H -> A -> W -> H;
  memory_moves : forall h a w, memory_state (memory_extend h a w) = mdp_next M (memory_state h) a w
}.

Arguments memory_state {X A W M H}.
Arguments memory_extend {X A W M H}.
Arguments memory_moves {X A W M H}.

Section Bellman.
  Context {X A W : Type}.
  Variable M : mdp X A W.

  Local Notation actions := (mdp_actions M).
  Local Notation law := (mdp_law M).
  Local Notation next := (mdp_next M).
  Local Notation rew := (mdp_rew M).
  Local Notation gamma := (mdp_gamma M).
  Local Notation R_max := (mdp_R_max M).
  Local Notation laws := (mdp_laws M).
  Local Notation bounded := (mdp_bounded M).
  Let discount : 0 <= gamma < 1 := mdp_discount M.
  Let R_max_nonneg : 0 <= R_max := mdp_R_max_nonneg M.

  (** (T f)(x, a) = E[ r + gamma max_a' f(x', a') ] *)
  Definition bellman (f : X -> A -> R) (x : X) (a : A) : R :=
    expect (law x a) (fun w => rew x a w + gamma * best actions (f (next x a w))).

  (** It is a gamma-contraction in the supremum distance. *)
  (* label: alg:cf:2 *)
  Theorem bellman_contracts c f g : close c f g -> close (gamma * c) (bellman f) (bellman g).
  Proof.
    intros H x a. apply expect_close; [apply laws |]. intros w.
    replace (rew x a w + gamma * best actions (f (next x a w)) - (rew x a w + gamma * best actions (g (next x a w))))
      with (gamma * (best actions (f (next x a w)) - best actions (g (next x a w)))) by ring.
    rewrite Rabs_mult, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra |].
    apply best_close. intros a'. apply H.
  Qed.

  (** V = R_max / (1 - gamma), the largest possible value. *)
  Definition V_max : R := R_max / (1 - gamma).

  Lemma V_max_nonneg : 0 <= V_max.
  Proof.
    apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; lra].
  Qed.

  Lemma V_max_step : R_max + gamma * V_max = V_max.
  Proof. unfold V_max. field. lra. Qed.

  (** Value iteration from zero. *)
  Fixpoint iterate (n : nat) : X -> A -> R :=
    match n with
    | O => fun _ _ => 0
    | S m => bellman (iterate m)
    end.

  Lemma bellman_bounded f : close V_max f (fun _ _ => 0) -> close V_max (bellman f) (fun _ _ => 0).
  Proof.
    intros H x a. replace 0 with (expect (law x a) (fun _ => 0)) by (rewrite expect_const; [reflexivity | apply laws]).
    apply expect_close; [apply laws |]. intros w. rewrite Rminus_0_r, <- V_max_step.
    apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat; [apply bounded |].
    rewrite Rabs_mult, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra |].
    specialize (H (next x a w) (greedy actions (f (next x a w)))). rewrite Rminus_0_r in H. exact H.
  Qed.

  Lemma iterate_bounded n : close V_max (iterate n) (fun _ _ => 0).
  Proof.
    induction n as [| n IH]; simpl; [| apply bellman_bounded, IH].
    intros x a. rewrite Rminus_0_r, Rabs_R0. apply V_max_nonneg.
  Qed.

  Lemma iterate_close n m : close (gamma ^ n * V_max) (iterate (n + m)) (iterate n).
  Proof.
    induction n as [| n IH]; simpl.
    - apply close_le with V_max; [lra | apply iterate_bounded].
    - apply close_le with (gamma * (gamma ^ n * V_max)); [lra |]. apply bellman_contracts, IH.
  Qed.

  Lemma iterate_cauchy x a : Cauchy_crit (fun n => iterate n x a).
  Proof.
    apply geometric_cauchy with gamma V_max; [assumption | apply V_max_nonneg |].
    intros n m. apply iterate_close.
  Qed.

  (** Q*, constructed as the limit of value iteration. *)
  Definition Q_star (x : X) (a : A) : R := proj1_sig (R_complete _ (iterate_cauchy x a)).
  Definition V_star (x : X) : R := best actions (Q_star x).

  Lemma Q_star_limit x a : Un_cv (fun n => iterate n x a) (Q_star x a).
  Proof. unfold Q_star. destruct (R_complete _ (iterate_cauchy x a)) as [q Hq]. exact Hq. Qed.

  Lemma iterate_near_Q_star n : close (gamma ^ n * V_max) (iterate n) Q_star.
  Proof.
    intros x a. rewrite Rabs_minus_sym.
    apply limit_close with (u := fun m => iterate m x a) (N := n); [apply Q_star_limit |].
    intros m Hm. replace m with (n + (m - n))%nat by lia. apply iterate_close.
  Qed.

  Lemma Q_star_bounded : close V_max Q_star (fun _ _ => 0).
  Proof. intros x a. rewrite Rabs_minus_sym. pose proof (iterate_near_Q_star 0 x a) as H. simpl in H. lra. Qed.

  (** Q* is a fixed point ... *)
  (* label: alg:cf:2 *)
  Theorem Q_star_is_fixed x a : bellman Q_star x a = Q_star x a.
  Proof.
    apply equal_if_close.
    apply below_up_to_powers with gamma (2 * gamma * V_max); [assumption | |].
    - pose proof V_max_nonneg. apply Rmult_le_pos; lra.
    - intros n.
      pose proof (bellman_contracts _ _ _ (iterate_near_Q_star n) x a) as H1. rewrite Rabs_minus_sym in H1.
      pose proof (iterate_near_Q_star (S n) x a) as H2. simpl in H2.
      replace (bellman Q_star x a - Q_star x a)
        with ((bellman Q_star x a - bellman (iterate n) x a) + (bellman (iterate n) x a - Q_star x a)) by ring.
      apply Rle_trans with (1 := Rabs_triang _ _). lra.
  Qed.

  (** ... and the only bounded one. *)
  (* label: alg:cf:2 *)
  Theorem Q_star_is_unique Q b :
    0 <= b -> close b Q Q_star -> (forall x a, bellman Q x a = Q x a) -> forall x a, Q x a = Q_star x a.
  Proof.
    intros Hb Hbounded Hfixed x a.
    assert (H : forall n, close (gamma ^ n * b) Q Q_star).
    { induction n as [| n IH]; simpl; [apply close_le with b; [lra | assumption] |].
      intros x' a'. rewrite <- Hfixed, <- Q_star_is_fixed.
      apply Rle_trans with (gamma * (gamma ^ n * b)); [apply (bellman_contracts _ _ _ IH) | lra]. }
    apply equal_if_close.
    apply below_up_to_powers with gamma b; [assumption .. |]. intros n. specialize (H n x a). lra.
  Qed.

  (** alg:cf:2 started at zero: ||f_B - Q*|| <= e / (1 - gamma) + gamma^B V. *)
  (* label: alg:cf:2 *)
  Theorem fitted_iteration_from_zero (f : nat -> X -> A -> R) (e : R) (B : nat) :
    0 <= e -> (forall x a, f O x a = 0) -> (forall b, close e (f (S b)) (bellman (f b))) ->
    close (e / (1 - gamma) + gamma ^ B * V_max) (f B) Q_star.
  Proof.
    intros He Hf0 Hstep.
    apply (fitted_iteration_error bellman gamma bellman_contracts Q_star f (fun _ => e) V_max); auto.
    - apply Q_star_is_fixed.
    - intros x a. rewrite Hf0. pose proof (Q_star_bounded x a) as H. rewrite Rabs_minus_sym. exact H.
    - intros _. lra.
  Qed.

  (** ** Policies

      A policy may randomise, read its whole memory, and read the number of steps to go. *)

  Context {H : Type}.
  Variable K : memory M H.

  Local Notation state := (memory_state K).
  Local Notation extend := (memory_extend K).
  Local Notation state_moves := (memory_moves K).

  (** Expected discounted reward of n steps from h. *)
  Fixpoint J (pi : nat -> H -> list (R * A)) (n : nat) (h : H) : R :=
    match n with
    | O => 0
    | S m =>
        expect (pi n h) (fun a =>
          expect (law (state h) a) (fun w => rew (state h) a w + gamma * J pi m (extend h a w)))
    end.

  Lemma J_ext pi pi' n h : (forall n h, pi n h = pi' n h) -> J pi n h = J pi' n h.
  Proof.
    intros E. revert h. induction n as [| n IH]; intros h; cbn [J]; [reflexivity |]. rewrite E.
    apply expect_ext. intros a. apply expect_ext. intros w. rewrite IH. reflexivity.
  Qed.

  (** What one action is worth when V follows. *)
  Lemma one_action f x a (g : W -> R) (c : R) :
    (forall w, g w <= best actions (f (next x a w)) + c) ->
    expect (law x a) (fun w => rew x a w + gamma * g w) <= bellman f x a + gamma * c.
  Proof.
    intros Hg. unfold bellman.
    apply Rle_trans with
      (expect (law x a) (fun w => rew x a w + gamma * best actions (f (next x a w)) + gamma * c)).
    - apply expect_le; [apply laws |]. intros w. specialize (Hg w).
      apply Rmult_le_compat_l with (r := gamma) in Hg; lra.
    - rewrite (expect_plus _ _ (fun _ => gamma * c)), expect_const by apply laws. lra.
  Qed.

  Lemma one_action_below f x a (g : W -> R) (c : R) :
    (forall w, best actions (f (next x a w)) - c <= g w) ->
    bellman f x a - gamma * c <= expect (law x a) (fun w => rew x a w + gamma * g w).
  Proof.
    intros Hg. unfold bellman.
    apply Rle_trans with
      (expect (law x a) (fun w => rew x a w + gamma * best actions (f (next x a w)) - gamma * c)).
    - rewrite (expect_minus _ _ (fun _ => gamma * c)), expect_const by apply laws. lra.
    - apply expect_le; [apply laws |]. intros w. specialize (Hg w).
      apply Rmult_le_compat_l with (r := gamma) in Hg; lra.
  Qed.

  (** *** Finite horizon *)

  (** max_a of value iteration after n steps. *)
  Definition V_finite (n : nat) (x : X) : R := best actions (iterate n x).

  (** Greedy for the number of steps left, reading the current state alone. *)
  Definition backward_greedy (n : nat) (h : H) : list (R * A) := surely (greedy actions (iterate n (state h))).

  Lemma J_at_most_V_finite pi n h : (forall n h, is_law (pi n h)) -> J pi n h <= V_finite n (state h) .
  Proof.
    intros Hpi. revert h. induction n as [| n IH]; intros h; [unfold V_finite, best; simpl; lra |].
    simpl J. apply Rle_trans with (expect (pi (S n) h) (iterate (S n) (state h))).
    - apply expect_le; [apply Hpi |]. intros a. simpl iterate.
      pose proof (one_action (iterate n) (state h) a (fun w => J pi n (extend h a w)) 0) as L.
      rewrite Rmult_0_r, Rplus_0_r in L. apply L. intros w. specialize (IH (extend h a w)).
      rewrite state_moves in IH. unfold V_finite in IH. lra.
    - apply expect_le_best, Hpi.
  Qed.

  Lemma J_backward_greedy n h : J backward_greedy n h = V_finite n (state h).
  Proof.
    revert h. induction n as [| n IH]; intros h; [reflexivity |].
    cbn [J]. rewrite (expect_surely (greedy actions (iterate (S n) (state h)))). unfold V_finite at 1, best at 1.
    cbn [iterate]. unfold bellman at 3. apply expect_ext. intros w. rewrite IH, state_moves. reflexivity.
  Qed.

  (** *** Infinite horizon *)

  Lemma J_at_most_V_star pi n h :
    (forall n h, is_law (pi n h)) -> J pi n h <= V_star (state h) + gamma ^ n * V_max.
  Proof.
    intros Hpi. revert h. induction n as [| n IH]; intros h.
    - simpl. pose proof (Q_star_bounded (state h) (greedy actions (Q_star (state h)))) as Hb.
      rewrite Rminus_0_r in Hb. unfold V_star, best.
      pose proof (Rle_abs (- Q_star (state h) (greedy actions (Q_star (state h))))) as L. rewrite Rabs_Ropp in L. lra.
    - simpl J. apply Rle_trans with (expect (pi (S n) h) (fun a => Q_star (state h) a + gamma ^ S n * V_max)).
      + apply expect_le; [apply Hpi |]. intros a. rewrite <- Q_star_is_fixed.
        replace (gamma ^ S n * V_max) with (gamma * (gamma ^ n * V_max)) by (simpl; ring).
        apply one_action. intros w. specialize (IH (extend h a w)). rewrite state_moves in IH. exact IH.
      + rewrite (expect_plus _ _ (fun _ => gamma ^ S n * V_max)), expect_const by apply Hpi.
        apply Rplus_le_compat_r, expect_le_best, Hpi.
  Qed.

  (** If each decision loses at most c in the eyes of Q*, the policy loses at most c / (1 - gamma). *)
  Lemma J_at_least pi c n h :
    (forall n h, is_law (pi n h)) -> 0 <= c ->
    (forall n h, V_star (state h) - c <= expect (pi n h) (Q_star (state h))) ->
    V_star (state h) - c * sum n (fun i => gamma ^ i) - gamma ^ n * V_max <= J pi n h.
  Proof.
    intros Hpi Hc Hloss. revert h. induction n as [| n IH]; intros h.
    - simpl. pose proof (Q_star_bounded (state h) (greedy actions (Q_star (state h)))) as Hb.
      rewrite Rminus_0_r in Hb. unfold V_star, best.
      pose proof (Rle_abs (Q_star (state h) (greedy actions (Q_star (state h))))). lra.
    - simpl J. set (k := c * sum n (fun i => gamma ^ i) + gamma ^ n * V_max).
      apply Rle_trans with (expect (pi (S n) h) (fun a => Q_star (state h) a - gamma * k)).
      + rewrite (expect_minus _ _ (fun _ => gamma * k)), expect_const by apply Hpi.
        specialize (Hloss (S n) h). rewrite sum_first, geometric_shift. unfold k. simpl. lra.
      + apply expect_le; [apply Hpi |]. intros a. rewrite <- Q_star_is_fixed.
        apply one_action_below. intros w. specialize (IH (extend h a w)). rewrite state_moves in IH.
        unfold k. unfold V_star in IH. lra.
  Qed.

  Lemma J_bounded pi n h : (forall n h, is_law (pi n h)) -> Rabs (J pi n h) <= V_max.
  Proof.
    intros Hpi. revert h. induction n as [| n IH]; intros h; cbn [J].
    - rewrite Rabs_R0. apply V_max_nonneg.
    - rewrite <- (Rminus_0_r (expect _ _)). rewrite <- (expect_const (pi (S n) h) 0) by apply Hpi.
      apply expect_close; [apply Hpi |]. intros a.
      rewrite <- (expect_const (law (state h) a) 0) by apply laws.
      apply expect_close; [apply laws |]. intros w. rewrite Rminus_0_r, <- V_max_step.
      apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat; [apply bounded |].
      rewrite Rabs_mult, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra | apply IH].
  Qed.

  (** From here on a policy does not read the steps to go: the horizon is infinite. *)
  Definition legal (rho : H -> list (R * A)) : Prop := forall h, is_law (rho h).

  Lemma J_tail rho n m h :
    legal rho -> Rabs (J (fun _ => rho) (n + m) h - J (fun _ => rho) n h) <= gamma ^ n * V_max.
  Proof.
    intros Hrho. revert h. induction n as [| n IH]; intros h.
    - simpl. rewrite Rminus_0_r, Rmult_1_l. apply J_bounded. intros _. exact Hrho.
    - cbn [J Nat.add]. apply expect_close; [apply Hrho |]. intros a. apply expect_close; [apply laws |]. intros w.
      replace (rew (state h) a w + gamma * J (fun _ => rho) (n + m) (extend h a w)
               - (rew (state h) a w + gamma * J (fun _ => rho) n (extend h a w)))
        with (gamma * (J (fun _ => rho) (n + m) (extend h a w) - J (fun _ => rho) n (extend h a w))) by ring.
      rewrite Rabs_mult, Rabs_pos_eq by lra. simpl. rewrite Rmult_assoc.
      apply Rmult_le_compat_l; [lra | apply IH].
  Qed.

  (** The discounted value of a policy from h: the limit over horizons. *)
  Definition has_value (rho : H -> list (R * A)) (h : H) (v : R) : Prop := Un_cv (fun n => J (fun _ => rho) n h) v.

  Lemma value_exists rho h : legal rho -> exists v, has_value rho h v.
  Proof.
    intros Hrho. destruct (R_complete (fun n => J (fun _ => rho) n h)) as [v Hv]; [| exists v; exact Hv].
    apply geometric_cauchy with gamma V_max; [assumption | apply V_max_nonneg |].
    intros n m. apply J_tail, Hrho.
  Qed.

  (** The value of a policy satisfies its own Bellman equation. *)
  Lemma value_step rho h (v : A -> W -> R) :
    (forall a w, has_value rho (extend h a w) (v a w)) ->
    has_value rho h (expect (rho h) (fun a => expect (law (state h) a) (fun w => rew (state h) a w + gamma * v a w))).
  Proof.
    intros Hv. unfold has_value.
    assert (shift : forall (u : nat -> R) l, Un_cv (fun n => u (S n)) l -> Un_cv u l).
    { intros u l Hu eps Heps. destruct (Hu eps Heps) as [N HN]. exists (S N). intros [| n] Hn; [lia |].
      apply HN. lia. }
    apply shift. cbn [J].
    apply (expect_limit (rho h) (fun n a => expect (law (state h) a)
             (fun w => rew (state h) a w + gamma * J (fun _ => rho) n (extend h a w)))). intros a.
    apply (expect_limit (law (state h) a) (fun n w => rew (state h) a w + gamma * J (fun _ => rho) n (extend h a w))).
    intros w. apply (CV_plus (fun _ => rew (state h) a w) (fun n => gamma * J (fun _ => rho) n (extend h a w))).
    - apply constant_limit.
    - apply (CV_mult (fun _ => gamma) (fun n => J (fun _ => rho) n (extend h a w))); [apply constant_limit | apply Hv].
  Qed.

  (** Always the greedy action of some scores. *)
  Definition greedy_for (score : H -> A -> R) (h : H) : list (R * A) := surely (greedy actions (score h)).

  Lemma greedy_for_legal score : legal (greedy_for score).
  Proof. intros h. apply surely_is_law. Qed.

  (** No policy beats V*, however much history it reads and however it randomises. *)
  (* label: thm:regret *)
  Theorem V_star_is_an_upper_bound rho h v : legal rho -> has_value rho h v -> v <= V_star (state h).
  Proof.
    intros Hrho Hv. apply (limit_le _ _ _ _ _ discount V_max_nonneg Hv).
    intros n. apply J_at_most_V_star. intros _. exact Hrho.
  Qed.

  (** Decisions that lose at most c each, in the eyes of Q*, lose at most c / (1 - gamma) in all. *)
  Lemma regret_of_small_losses rho c h v :
    legal rho -> 0 <= c -> (forall h, V_star (state h) - c <= expect (rho h) (Q_star (state h))) ->
    has_value rho h v -> V_star (state h) - v <= c / (1 - gamma).
  Proof.
    intros Hrho Hc Hloss Hv.
    assert (- v <= c / (1 - gamma) - V_star (state h)); [| lra].
    apply (limit_le (fun n => - J (fun _ => rho) n h) (- v) _ gamma V_max); auto using V_max_nonneg.
    - apply (CV_opp _ _ Hv).
    - intros n. pose proof (J_at_least (fun _ => rho) c n h (fun _ => Hrho) Hc (fun _ => Hloss)) as L.
      pose proof (Rmult_le_compat_l c _ _ Hc (geometric_le gamma n discount)). unfold Rdiv. lra.
  Qed.

  (** Scores within xi of Q* along the way: regret at most 2 xi / (1 - gamma). *)
  Lemma regret_of_greedy_scores score xi h v :
    0 <= xi -> (forall h a, Rabs (score h a - Q_star (state h) a) <= xi) ->
    has_value (greedy_for score) h v -> V_star (state h) - v <= 2 * xi / (1 - gamma).
  Proof.
    intros Hxi Hscore. apply regret_of_small_losses; [apply greedy_for_legal | lra |].
    intros h'. unfold greedy_for. rewrite expect_surely.
    pose proof (greedy_loss actions (Q_star (state h')) (score h') xi (Hscore h')). unfold V_star. lra.
  Qed.

  (** V* is attained by acting greedily on Q*, reading the current state alone. *)
  (* label: thm:regret *)
  Theorem V_star_is_attained h : has_value (greedy_for (fun h => Q_star (state h))) h (V_star (state h)).
  Proof.
    destruct (value_exists (greedy_for (fun h => Q_star (state h))) h (greedy_for_legal _)) as [v Hv].
    assert (E : V_star (state h) = v); [| rewrite E; exact Hv].
    apply Rle_antisym; [| apply (V_star_is_an_upper_bound _ h v (greedy_for_legal _) Hv)].
    pose proof (regret_of_greedy_scores (fun h => Q_star (state h)) 0 h v (Rle_refl 0)) as L.
    assert (V_star (state h) - v <= 2 * 0 / (1 - gamma)).
    { apply L; [| exact Hv]. intros h' a. replace (Q_star (state h') a - Q_star (state h') a) with 0 by ring.
      rewrite Rabs_R0. lra. }
    unfold Rdiv in *. lra.
  Qed.

  (** *** Along the path

      The loss of a deterministic rule need be bounded only where the rule can go: on a set of memories that contains the start
      and is not left. *)
  Section AlongThePath.
    Variables (decision : H -> A) (inside : H -> Prop) (c : R).
    Hypothesis c_nonneg : 0 <= c.
    Hypothesis not_left :
      forall h p w, inside h -> In (p, w) (law (state h) (decision h)) -> inside (extend h (decision h) w).
    Hypothesis loss_inside : forall h, inside h -> V_star (state h) - c <= Q_star (state h) (decision h).

    Lemma J_at_least_inside n h :
      inside h ->
      V_star (state h) - c * sum n (fun i => gamma ^ i) - gamma ^ n * V_max <= J (fun _ h => surely (decision h)) n h.
    Proof.
      revert h. induction n as [| n IH]; intros h Hh.
      - simpl. pose proof (Q_star_bounded (state h) (greedy actions (Q_star (state h)))) as Hb.
        rewrite Rminus_0_r in Hb. unfold V_star, best.
        pose proof (Rle_abs (Q_star (state h) (greedy actions (Q_star (state h))))). lra.
      - cbn [J]. rewrite (expect_surely (decision h)). set (k := c * sum n (fun i => gamma ^ i) + gamma ^ n * V_max).
        apply Rle_trans with (Q_star (state h) (decision h) - gamma * k).
        + specialize (loss_inside h Hh). rewrite sum_first, geometric_shift. unfold k. simpl. lra.
        + rewrite <- Q_star_is_fixed. unfold bellman.
          rewrite <- (expect_const (law (state h) (decision h)) (gamma * k)) by apply laws.
          rewrite <- expect_minus. apply expect_le_listed; [apply laws |]. intros p w Hw.
          specialize (IH _ (not_left h p w Hh Hw)). rewrite state_moves in IH.
          apply Rmult_le_compat_l with (r := gamma) in IH; [| lra]. unfold k. unfold V_star in IH. lra.
    Qed.
  End AlongThePath.

  (** D22 with its factor 2: a greedy policy of f, ||f - Q*|| <= xi, acting on true states. *)
  (* label: thm:regret *)
  (* label: D22 *)
  Theorem regret_on_true_states f xi h v :
    0 <= xi -> close xi f Q_star ->
    has_value (greedy_for (fun h => f (state h))) h v -> V_star (state h) - v <= 2 * xi / (1 - gamma).
  Proof. intros Hxi Hf. apply regret_of_greedy_scores; [assumption |]. intros h' a. apply Hf. Qed.

  (** A policy that reads estimated states: Q* is L_Q-Lipschitz and estimates are within eps.  The value is that of *this* process.
      In the augmented process it is the fair value V~ of [FairValue], not J: the deployed rule is not exactly fair. *)
  (* label: thm:regret *)
  Theorem regret_on_estimated_states f (estimate : H -> X) (distance : X -> X -> R) xi L_Q eps h v :
    0 <= xi -> 0 <= L_Q -> 0 <= eps -> close xi f Q_star ->
    (forall x y a, Rabs (Q_star x a - Q_star y a) <= L_Q * distance x y) ->
    (forall h, distance (estimate h) (state h) <= eps) ->
    has_value (greedy_for (fun h => f (estimate h))) h v ->
    V_star (state h) - v <= 2 * (xi + L_Q * eps) / (1 - gamma).
  Proof.
    intros Hxi HL Heps Hf HQ He. apply regret_of_greedy_scores.
    - pose proof (Rmult_le_pos _ _ HL Heps). lra.
    - intros h' a. pose proof (Hf (estimate h') a) as H1. pose proof (HQ (estimate h') (state h') a) as H2.
      pose proof (Rmult_le_compat_l _ _ _ HL (He h')) as H3.
      replace (f (estimate h') a - Q_star (state h') a)
        with ((f (estimate h') a - Q_star (estimate h') a) + (Q_star (estimate h') a - Q_star (state h') a)) by ring.
      apply Rle_trans with (1 := Rabs_triang _ _). lra.
  Qed.

  (** alg:cf:2 from zero with one-step errors e, acting on estimated states; again the value of this process. *)
  (* label: thm:regret *)
  Theorem regret_of_fitted_iteration (f : nat -> X -> A -> R) e B (estimate : H -> X) distance L_Q eps h v :
    0 <= e -> 0 <= L_Q -> 0 <= eps ->
    (forall x a, f O x a = 0) -> (forall b, close e (f (S b)) (bellman (f b))) ->
    (forall x y a, Rabs (Q_star x a - Q_star y a) <= L_Q * distance x y) ->
    (forall h, distance (estimate h) (state h) <= eps) ->
    has_value (greedy_for (fun h => f B (estimate h))) h v ->
    V_star (state h) - v <= 2 * (e / (1 - gamma) + gamma ^ B * V_max + L_Q * eps) / (1 - gamma).
  Proof.
    intros He HL Heps Hf0 Hstep HQ Hest. apply regret_on_estimated_states with distance; auto.
    - pose proof V_max_nonneg. assert (0 <= gamma ^ B) by (apply pow_le; lra).
      assert (0 <= e / (1 - gamma)) by (apply Rmult_le_pos; [| left; apply Rinv_0_lt_compat]; lra).
      pose proof (Rmult_le_pos (gamma ^ B) V_max). lra.
    - apply fitted_iteration_from_zero; assumption.
  Qed.
End Bellman.
