(** * Unfairness from data: two statements that a program can compute

    *Finite sample.*  A confidence set for the means holds the true ones with probability at least 1 - a1; the policy does not
    depend on the N people who are asked.  Then with probability at least 1 - a1 - a2

      theta <= sup over the confidence set of theta_N + sqrt(log(1/a2) / (2 N)).

    *No coupling assumed* (t = 1, two actions): |p_0 - p_1| <= theta_1 <= min(1, p_0 + p_1, 2 - p_0 - p_1), and both are sharp. *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import Finite Hoeffding.
Import ListNotations.
Open Scope R_scope.

Lemma draws_minus {W : Type} (l : list (R * W)) n : forall f g,
  draws l n (fun ws => f ws - g ws) = draws l n f - draws l n g.
Proof.
  induction n as [| n IH]; intros f g; simpl; [reflexivity |].
  rewrite <- expect_minus. apply expect_ext. intros w. apply (IH (fun ws => f (w :: ws)) (fun ws => g (w :: ws))).
Qed.

Section Certificate.
  (** T: what was used to learn the policy (and perhaps the means).  W: a person asked afterwards.  Means: possible means. *)
  Context {T W Means : Type}.
  Variables (training : list (R * T)) (people : list (R * W)) (N : nat).
  Hypothesis training_law : is_law training.
  Hypothesis people_law : is_law people.
  Hypothesis asked : (0 < N)%nat.

  (** Under the policy learned from tr, were mu the means, person w would be treated differently at two levels. *)
  Variable differs : T -> Means -> W -> Prop.

  (** theta_N(mu), and theta at the true means mu_0. *)
  Definition theta_N (tr : T) (mu : Means) (ws : list W) : R := count (differs tr mu) ws / INR N.
  Variable mu_0 : Means.
  Definition theta (tr : T) : R := share people (differs tr mu_0).

  (** P over training and asked people. *)
  Definition probability (event : T -> list W -> Prop) : R :=
    expect training (fun tr => draws people N (fun ws => indicator (event tr ws))).

  (** The confidence set may depend on everything; U bounds theta_N on it. *)
  Variables (confidence : T -> list W -> Means -> Prop) (U : T -> list W -> R).
  Hypothesis U_is_a_supremum : forall tr ws mu, confidence tr ws mu -> theta_N tr mu ws <= U tr ws.

  (* label: eq:cf_metric *)
  Theorem finite_sample_certificate (a1 a2 : R) :
    0 < a2 <= 1 ->
    probability (fun tr ws => ~ confidence tr ws mu_0) <= a1 ->
    1 - a1 - a2 <= probability (fun tr ws => theta tr <= U tr ws + sqrt (ln (/ a2) / (2 * INR N))).
  Proof.
    intros Ha2 Ha1. set (t := sqrt (ln (/ a2) / (2 * INR N))).
    pose proof (lt_0_INR N asked) as HN.
    assert (Hln : 0 <= ln (/ a2)).
    { rewrite <- ln_1. assert (H : 1 <= / a2) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
      destruct H as [H | <-]; [left; apply ln_increasing; lra | right; reflexivity]. }
    assert (Hq : 0 <= ln (/ a2) / (2 * INR N)) by (apply Rmult_le_pos; [exact Hln | left; apply Rinv_0_lt_compat; lra]).
    assert (Ht : 0 <= t) by apply sqrt_pos.
    assert (Htt : - 2 * INR N * (t * t) = ln a2).
    { unfold t. rewrite sqrt_sqrt by exact Hq. rewrite ln_Rinv by lra. field. lra. }
    assert (Hlow : probability (fun tr ws => theta_N tr mu_0 ws <= theta tr - t) <= a2).
    { unfold probability. apply expect_le_const; [exact training_law |]. intros tr.
      apply Rle_trans with (draws people N (fun ws => indicator (count (differs tr mu_0) ws <= INR N * (theta tr - t)))).
      - apply draws_le; [apply people_law |]. intros ws _. apply indicator_le. unfold theta_N. intros H.
        apply Rmult_le_compat_l with (r := INR N) in H; [| lra].
        replace (INR N * (count (differs tr mu_0) ws / INR N)) with (count (differs tr mu_0) ws) in H by (field; lra).
        exact H.
      - apply Rle_trans with (1 := hoeffding people (differs tr mu_0) people_law t N Ht).
        rewrite Htt, exp_ln by lra. lra. }
    apply Rle_trans with
      (1 - probability (fun tr ws => ~ confidence tr ws mu_0) - probability (fun tr ws => theta_N tr mu_0 ws <= theta tr - t));
      [lra |].
    unfold probability. rewrite <- (expect_const training 1 training_law), <- !expect_minus.
    apply expect_le; [apply training_law |]. intros tr.
    rewrite <- (draws_const people N 1 people_law), <- !draws_minus.
    apply draws_le; [apply people_law |]. intros ws _.
    pose proof (indicator_bounds (theta tr <= U tr ws + t)).
    unfold indicator in *.
    destruct (decide (~ confidence tr ws mu_0)) as [_ | Hin], (decide (theta_N tr mu_0 ws <= theta tr - t)) as [_ | Hhigh],
             (decide (theta tr <= U tr ws + t)) as [_ | Hno]; try lra.
    exfalso. apply Hno. apply Classical_Prop.NNPP in Hin. pose proof (U_is_a_supremum tr ws mu_0 Hin). lra.
  Qed.
End Certificate.

(** ** The parity gap bounds unfairness from below, whatever ties the worlds together *)

Section ParityGap.
  Context {W : Type}.
  Variables (people : list (R * W)) (action : bool -> W -> bool).
  Hypothesis people_law : is_law people.

  (** p_z = P(A = 1 | Z = z) = P(A^z = 1): the level is a root.  theta_1 = P(A^0 <> A^1). *)
  Definition p_at (z : bool) : R := expect people (fun w => if action z w then 1 else 0).
  Definition theta_1 : R := expect people (fun w => if Bool.eqb (action false w) (action true w) then 0 else 1).

  (* label: eq:cf_metric *)
  Theorem parity_gap_bounds_unfairness :
    Rabs (p_at false - p_at true) <= theta_1
    /\ theta_1 <= Rmin 1 (Rmin (p_at false + p_at true) (2 - p_at false - p_at true)).
  Proof.
    unfold theta_1, p_at. split.
    - rewrite <- expect_minus. apply expect_abs; [apply people_law |]. intros w.
      destruct (action false w), (action true w); simpl; unfold Rabs; destruct (Rcase_abs _); lra.
    - repeat apply Rmin_glb.
      + apply expect_le_const; [exact people_law |]. intros w. destruct (Bool.eqb _ _); lra.
      + rewrite <- expect_plus. apply expect_le; [apply people_law |]. intros w.
        destruct (action false w), (action true w); simpl; lra.
      + rewrite <- (expect_const people 2 people_law), <- !expect_minus. apply expect_le; [apply people_law |]. intros w.
        destruct (action false w), (action true w); simpl; lra.
  Qed.
End ParityGap.

(** Four kinds of people: the pair of their actions at the two levels. *)
Definition four (p00 p01 p10 p11 : R) : list (R * (bool * bool)) :=
  [(p00, (false, false)); (p01, (false, true)); (p10, (true, false)); (p11, (true, true))].
Definition action_of (z : bool) (w : bool * bool) : bool := if z then snd w else fst w.

(** Sharp: for any p_0 and p_1 there are people who attain the lower bound, and people who attain the upper one. *)
(* label: eq:cf_metric *)
Theorem parity_bounds_are_sharp (p_0 p_1 : R) :
  0 <= p_0 <= 1 -> 0 <= p_1 <= 1 ->
  (exists people, is_law people /\ p_at people action_of false = p_0 /\ p_at people action_of true = p_1
                  /\ theta_1 people action_of = Rabs (p_0 - p_1))
  /\ (exists people, is_law people /\ p_at people action_of false = p_0 /\ p_at people action_of true = p_1
                     /\ theta_1 people action_of = Rmin 1 (Rmin (p_0 + p_1) (2 - p_0 - p_1))).
Proof.
  intros H0 H1.
  assert (K : forall p11, 0 <= p11 -> p11 <= p_0 -> p11 <= p_1 -> p_0 + p_1 - p11 <= 1 ->
            let people := four (1 - p_0 - p_1 + p11) (p_1 - p11) (p_0 - p11) p11 in
            is_law people /\ p_at people action_of false = p_0 /\ p_at people action_of true = p_1
            /\ theta_1 people action_of = p_0 + p_1 - 2 * p11).
  { intros p11 A1 A2 A3 A4. cbv zeta. unfold p_at, theta_1, four, action_of.
    split; [split; [repeat (apply Forall_cons; [simpl; lra |]); apply Forall_nil | simpl; lra] |]. simpl. repeat split; lra. }
  split.
  - destruct (Rle_dec p_0 p_1) as [H | H].
    + destruct (K p_0) as [L [E0 [E1 Et]]]; try lra. eexists. split; [exact L |]. split; [exact E0 |]. split; [exact E1 |].
      rewrite Et, Rabs_left1; lra.
    + destruct (K p_1) as [L [E0 [E1 Et]]]; try lra. eexists. split; [exact L |]. split; [exact E0 |]. split; [exact E1 |].
      rewrite Et, Rabs_pos_eq; lra.
  - destruct (Rle_dec (p_0 + p_1) 1) as [H | H].
    + destruct (K 0) as [L [E0 [E1 Et]]]; try lra. eexists. split; [exact L |]. split; [exact E0 |]. split; [exact E1 |].
      rewrite Et. rewrite (Rmin_left (p_0 + p_1)), Rmin_right; lra.
    + destruct (K (p_0 + p_1 - 1)) as [L [E0 [E1 Et]]]; try lra. eexists. split; [exact L |].
      split; [exact E0 |]. split; [exact E1 |]. rewrite Et. rewrite (Rmin_right (p_0 + p_1)), Rmin_right; lra.
Qed.
