(** * The fast rate: regret of order xi^(1 + alpha) under a margin

    The deployed rule acts greedily on scores within xi of Q* along its own path.  A wrong decision is possible only where
    the gap is at most 2 xi, and then costs at most 2 xi; summing over the law of S_t under the rule gives the bound. *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import Finite ValueIteration Margin.
Import ListNotations.
Open Scope R_scope.

Section FastRate.
  Context {X A W H : Type}.
  Variables (M : mdp X A W) (K : memory M H) (same : forall a b : A, {a = b} + {a <> b}).

  Local Notation gamma := (mdp_gamma M).
  Local Notation state := (memory_state K).
  Let discount : 0 <= gamma < 1 := mdp_discount M.

  (** A deterministic rule, and its use as a policy. *)
  Variable decide : H -> A.
  Let policy (_ : nat) (h : H) : list (R * A) := surely (decide h).

  (** The law of the memory one step later, and t steps later. *)
  Definition advance (l : list (R * H)) : list (R * H) :=
    flat_map (fun '(p, h) =>
      map (fun '(q, w) => (p * q, memory_extend K h (decide h) w)) (mdp_law M (state h) (decide h))) l.

  Fixpoint law_at (t : nat) (l : list (R * H)) : list (R * H) :=
    match t with
    | O => l
    | S t => law_at t (advance l)
    end.

  Lemma expect_branch p h (l : list (R * W)) (f : H -> R) :
    expect (map (fun '(q, w) => (p * q, memory_extend K h (decide h) w)) l) f
    = p * expect l (fun w => f (memory_extend K h (decide h) w)).
  Proof. induction l as [| [q w] l IH]; simpl; [ring | rewrite IH; ring]. Qed.

  Lemma expect_advance l f :
    expect (advance l) f
    = expect l (fun h => expect (mdp_law M (state h) (decide h)) (fun w => f (memory_extend K h (decide h) w))).
  Proof.
    unfold advance. induction l as [| [p h] l IH]; cbn [flat_map expect]; [reflexivity |].
    rewrite expect_app, expect_branch, IH. reflexivity.
  Qed.

  Lemma advance_is_law l : is_law l -> is_law (advance l).
  Proof.
    intros [Hpos Hsum]. split.
    - unfold weights_nonneg, advance in *. rewrite Forall_forall in *. intros pw Hin.
      apply in_flat_map in Hin as [[p h] [Hp Hin]]. apply in_map_iff in Hin as [[q w] [<- Hq]]. simpl.
      apply Rmult_le_pos; [exact (Hpos _ Hp) |].
      pose proof (proj1 (mdp_laws M (state h) (decide h))) as Hlaw. unfold weights_nonneg in Hlaw.
      rewrite Forall_forall in Hlaw. exact (Hlaw _ Hq).
    - rewrite expect_advance. apply eq_trans with (2 := Hsum). apply expect_ext. intros h. apply mdp_laws.
  Qed.

  Lemma law_at_is_law t : forall l, is_law l -> is_law (law_at t l).
  Proof. induction t as [| t IH]; intros l Hl; simpl; [exact Hl | apply IH, advance_is_law, Hl]. Qed.

  (** What a decision loses, in the eyes of Q*. *)
  Definition loss (h : H) : R := V_star M (state h) - Q_star M (state h) (decide h).

  Lemma V_star_step h n :
    V_star M (state h) - J M K policy (S n) h
    = loss h + gamma * expect (mdp_law M (state h) (decide h))
                 (fun w => V_star M (state (memory_extend K h (decide h) w))
                           - J M K policy n (memory_extend K h (decide h) w)).
  Proof.
    assert (E : Q_star M (state h) (decide h)
                = J M K policy (S n) h
                  + gamma * expect (mdp_law M (state h) (decide h))
                      (fun w => V_star M (state (memory_extend K h (decide h) w))
                                - J M K policy n (memory_extend K h (decide h) w))).
    { rewrite <- (Q_star_is_fixed M (state h) (decide h)). cbn [J].
      rewrite (expect_surely (decide h)), <- expect_scale, <- expect_plus.
      apply expect_ext. intros w. rewrite memory_moves. unfold V_star. ring. }
    unfold loss. lra.
  Qed.

  (** Performance difference: the regret is the discounted sum of the expected losses along the way. *)
  (* label: thm:regret *)
  Theorem performance_difference n : forall start,
    expect start (fun h => V_star M (state h) - J M K policy n h)
    = sum n (fun t => gamma ^ t * expect (law_at t start) loss)
      + gamma ^ n * expect (law_at n start) (fun h => V_star M (state h)).
  Proof.
    induction n as [| n IH]; intros start.
    - simpl. rewrite Rplus_0_l, Rmult_1_l. apply expect_ext. intros h. ring.
    - rewrite (expect_ext _ _ _ (fun h => V_star_step h n)), (expect_plus start loss), (expect_scale start gamma).
      rewrite <- (expect_advance start (fun h' => V_star M (state h') - J M K policy n h')), IH.
      rewrite sum_first. simpl law_at. simpl (gamma ^ 0).
      rewrite (sum_ext n (fun i => gamma ^ S i * expect (law_at i (advance start)) loss)
                         (fun i => gamma * (gamma ^ i * expect (law_at i (advance start)) loss)))
        by (intros i; simpl; ring).
      rewrite sum_scale. simpl (gamma ^ S n). ring.
  Qed.

  (** From here on: greedy on scores within xi of Q*. *)
  Variables (score : H -> A -> R) (xi : R).
  Hypothesis xi_pos : 0 < xi.
  Hypothesis greedy_rule : forall h, decide h = greedy (mdp_actions M) (score h).
  Hypothesis scores_within : forall h a, Rabs (score h a - Q_star M (state h) a) <= xi.

  Definition small_gap (h : H) : bool :=
    if Rle_dec (gap same (mdp_actions M) (Q_star M (state h))) (2 * xi) then true else false.

  Lemma loss_only_at_small_gaps h : loss h <= 2 * xi * (if small_gap h then 1 else 0).
  Proof.
    unfold loss. rewrite greedy_rule.
    apply Rle_trans with
      (1 := step_loss_at_small_gaps same (mdp_actions M) (Q_star M (state h)) (score h) xi (scores_within h)).
    apply Rmult_le_compat_l; [lra |]. unfold small_gap. destruct (Rle_dec _ _) as [Hgap | Hgap].
    - apply indicator_bounds.
    - rewrite (indicator_false _ Hgap). lra.
  Qed.

  (** Any horizon, any finite law of starting points. *)
  (* label: thm:regret *)
  Theorem regret_counts_small_gaps start n :
    is_law start ->
    expect start (fun h => V_star M (state h) - J M K policy n h)
    <= sum n (fun t => gamma ^ t * (2 * xi * prob (law_at t start) small_gap)) + gamma ^ n * V_max M.
  Proof.
    intros Hstart. rewrite performance_difference. apply Rplus_le_compat.
    - apply sum_le. intros t. apply Rmult_le_compat_l; [apply pow_le; lra |].
      unfold prob. rewrite <- expect_scale. apply expect_le; [apply law_at_is_law, Hstart | apply loss_only_at_small_gaps].
    - apply Rmult_le_compat_l; [apply pow_le; lra |].
      apply expect_le_const; [apply law_at_is_law, Hstart |]. intros h. unfold V_star, best.
      pose proof (Q_star_bounded M (state h) (greedy (mdp_actions M) (Q_star M (state h)))) as Hb.
      rewrite Rminus_0_r in Hb. pose proof (Rle_abs (Q_star M (state h) (greedy (mdp_actions M) (Q_star M (state h))))). lra.
  Qed.

  (** Theorem 5, finite form.  The margin condition is asked of the law of S_t under the deployed rule, for every t.  [v] is
      the rule's discounted value in this process from the starting law; [FairValue.fast_rate_of_the_fair_value] is the same for
      V~ in the original process.  It is not a statement about J. *)
  (* label: thm:regret *)
  (* label: asm:margin *)
  Theorem fast_rate start C_m alpha v :
    is_law start -> 0 <= C_m ->
    (forall t, prob (law_at t start) small_gap <= C_m * Rpower (2 * xi) alpha) ->
    Un_cv (fun n => expect start (J M K policy n)) v ->
    expect start (fun h => V_star M (state h)) - v <= C_m * Rpower (2 * xi) (1 + alpha) / (1 - gamma).
  Proof.
    intros Hstart HC Hmargin Hv.
    set (c := C_m * Rpower (2 * xi) (1 + alpha)).
    assert (Hc : 2 * xi * (C_m * Rpower (2 * xi) alpha) = c).
    { unfold c. rewrite Rpower_plus, Rpower_1 by lra. ring. }
    assert (0 <= c).
    { unfold c, Rpower. apply Rmult_le_pos; [exact HC | left; apply exp_pos]. }
    assert (- v <= c / (1 - gamma) - expect start (fun h => V_star M (state h))); [| lra].
    apply (limit_le (fun n => - expect start (J M K policy n)) (- v) _ gamma (V_max M) discount (V_max_nonneg M)).
    - apply (CV_opp _ _ Hv).
    - intros n. pose proof (regret_counts_small_gaps start n Hstart) as L. rewrite expect_minus in L.
      assert (sum n (fun t => gamma ^ t * (2 * xi * prob (law_at t start) small_gap)) <= c / (1 - gamma)).
      + apply Rle_trans with (c * sum n (fun t => gamma ^ t)).
        * rewrite <- sum_scale. apply sum_le. intros t. rewrite (Rmult_comm c).
          apply Rmult_le_compat_l; [apply pow_le; lra |]. rewrite <- Hc.
          apply Rmult_le_compat_l; [lra | apply Hmargin].
        * apply Rmult_le_compat_l; [assumption | apply geometric_le, discount].
      + change (fun h => J M K policy n h) with (J M K policy n) in L. lra.
  Qed.
End FastRate.
