(** * thm:cf_metric repaired: who can be treated differently, and how often

    The learned rule acts greedily on f, with |f - Q*| <= xi.  Seen from two worlds, the same person has estimated states
    s1 and s2, each within eps of the true s.  The rule can act differently in the two worlds only where the gap of Q*
    at the true s is at most 2 (xi + L_Q eps); the constant 2 cannot be lowered. *)

From Coq Require Import List Reals Lra Lia Bool.
From Counterfair Require Import Finite.
Import ListNotations.
Open Scope R_scope.

Section Gap.
  Context {A : Type}.
  Variables (same : forall a b : A, {a = b} + {a <> b}) (actions : finite_actions A).

  (** Best minus second best, counted with multiplicity: zero when two actions tie for the best. *)
  Definition gap (q : A -> R) : R :=
    match remove same (greedy actions q) (first_action actions :: other_actions actions) with
    | [] => 0
    | b :: others => best actions q - q (argmax q b others)
    end.

  Lemma gap_beats (q : A -> R) (c : R) (a : A) : c < gap q -> a <> greedy actions q -> q a + c < best actions q.
  Proof.
    intros Hgap Ha. unfold gap in Hgap.
    assert (Hin : In a (remove same (greedy actions q) (first_action actions :: other_actions actions))).
    { apply in_in_remove; [exact Ha | apply all_listed]. }
    destruct (remove same (greedy actions q) (first_action actions :: other_actions actions)) as [| b l]; [destruct Hin |].
    pose proof (argmax_best q l b a Hin). lra.
  Qed.

  (** E5 and E6: scores within c of q have the same greedy action wherever the gap exceeds 2 c. *)
  (* label: E5 *)
  Theorem greedy_is_stable (q score : A -> R) (c : R) :
    (forall a, Rabs (score a - q a) <= c) -> 2 * c < gap q -> greedy actions score = greedy actions q.
  Proof.
    intros Hscore Hgap. destruct (same (greedy actions score) (greedy actions q)) as [E | E]; [exact E | exfalso].
    pose proof (gap_beats q (2 * c) _ Hgap E) as Hbeat.
    pose proof (greedy_best actions score (greedy actions q)) as Hbest. unfold best in *.
    pose proof (Hscore (greedy actions score)) as H1. pose proof (Hscore (greedy actions q)) as H2.
    pose proof (Rle_abs (score (greedy actions score) - q (greedy actions score))).
    pose proof (Rle_abs (- (score (greedy actions q) - q (greedy actions q)))). rewrite Rabs_Ropp in *. lra.
  Qed.

  (** What one greedy decision loses: where it is not the best one, the gap is at most 2 c and the loss is at most 2 c. *)
  (* label: thm:regret *)
  Theorem step_loss_at_small_gaps (q score : A -> R) (c : R) :
    (forall a, Rabs (score a - q a) <= c) ->
    best actions q - q (greedy actions score) <= 2 * c * indicator (gap q <= 2 * c).
  Proof.
    intros Hscore. unfold indicator. destruct (decide _) as [_ | Hgap].
    - rewrite Rmult_1_r. exact (greedy_loss actions q score c Hscore).
    - rewrite (greedy_is_stable q score c Hscore) by lra. unfold best. lra.
  Qed.
End Gap.

(** The loss need not be at most the gap: the rule may take the third best action.  q = (1, 99/100, 9/10),
    score = (94/100, 93/100, 96/100), off by 6/100: the rule takes the third action and loses 1/10, while the gap is 1/100. *)
Inductive three : Set := first | second | third.

Definition three_dec (a b : three) : {a = b} + {a <> b}.
Proof. decide equality. Defined.

Definition three_actions : finite_actions three.
Proof. refine {| first_action := first; other_actions := [second; third] |}. intros []; simpl; auto. Defined.

Definition close_race (a : three) : R := match a with first => 1 | second => 99/100 | third => 9/10 end.
Definition close_race_score (a : three) : R := match a with first => 94/100 | second => 93/100 | third => 96/100 end.

(* label: thm:regret *)
Theorem a_step_can_lose_more_than_the_gap :
  (forall a, Rabs (close_race_score a - close_race a) <= 6/100)
  /\ gap three_dec three_actions close_race = 1/100
  /\ best three_actions close_race - close_race (greedy three_actions close_race_score) = 1/10
  /\ ~ (forall q score c, (forall a, Rabs (score a - q a) <= c) ->
          best three_actions q - q (greedy three_actions score)
          <= gap three_dec three_actions q * indicator (gap three_dec three_actions q <= 2 * c)).
Proof.
  assert (near : forall a, Rabs (close_race_score a - close_race a) <= 6/100).
  { intros []; simpl; apply Rabs_le; lra. }
  assert (top : greedy three_actions close_race = first).
  { unfold greedy. simpl. destruct (Rlt_dec 1 (99/100)); [lra |]. simpl. destruct (Rlt_dec 1 (9/10)); [lra | reflexivity]. }
  assert (narrow : gap three_dec three_actions close_race = 1/100).
  { unfold gap, best. rewrite top. simpl. destruct (Rlt_dec (99/100) (9/10)); simpl; lra. }
  assert (loss : best three_actions close_race - close_race (greedy three_actions close_race_score) = 1/10).
  { unfold best. rewrite top. unfold greedy. simpl. destruct (Rlt_dec (94/100) (93/100)); [lra |]. simpl.
    destruct (Rlt_dec (94/100) (96/100)); simpl; lra. }
  repeat split; [exact near | exact narrow | exact loss |]. intros H.
  specialize (H close_race close_race_score (6/100) near). rewrite loss, narrow, indicator_true in H; lra.
Qed.

Section UnfairnessControl.
  Context {A X Omega : Type}.
  Variables (same : forall a b : A, {a = b} + {a <> b}) (actions : finite_actions A).

  (** A finite law of people: the true (augmented) state s and its estimates s1, s2 from two worlds.  With weights 1/(NT)
      on the pairs (i, t), probabilities of this law are the averages of eq:cf_metric. *)
  Variables (people : list (R * Omega)) (s s1 s2 : Omega -> X).
  Hypothesis weights : weights_nonneg people.

  Variables (Q f : X -> A -> R) (distance : X -> X -> R).

  (** The rule acts differently in the two worlds. *)
  Definition disagree (o : Omega) : bool :=
    if same (greedy actions (f (s1 o))) (greedy actions (f (s2 o))) then false else true.

  Definition gap_at_most (q : X -> A -> R) (x : R) (o : Omega) : bool :=
    if Rle_dec (gap same actions (q (s o))) x then true else false.

  Lemma scores_close xi L eps (t : Omega -> X) (o : Omega) :
    0 <= L -> (forall x a, Rabs (f x a - Q x a) <= xi) ->
    (forall x y a, Rabs (Q x a - Q y a) <= L * distance x y) ->
    distance (t o) (s o) <= eps ->
    forall a, Rabs (f (t o) a - Q (s o) a) <= xi + L * eps.
  Proof.
    intros HL Hf HQ Hd a. pose proof (Hf (t o) a). pose proof (HQ (t o) (s o) a).
    pose proof (Rmult_le_compat_l _ _ _ HL Hd).
    replace (f (t o) a - Q (s o) a) with ((f (t o) a - Q (t o) a) + (Q (t o) a - Q (s o) a)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). lra.
  Qed.

  (** Theorem 4': no law of the estimated states enters, and no factor for the two worlds. *)
  (* label: thm:cf_metric *)
  Theorem unfairness_is_controlled (xi L_Q eps : R) :
    0 <= L_Q ->
    (forall x a, Rabs (f x a - Q x a) <= xi) ->
    (forall x y a, Rabs (Q x a - Q y a) <= L_Q * distance x y) ->
    (forall o, distance (s1 o) (s o) <= eps) -> (forall o, distance (s2 o) (s o) <= eps) ->
    prob people disagree <= prob people (gap_at_most Q (2 * (xi + L_Q * eps))).
  Proof.
    intros HL Hf HQ H1 H2. apply prob_le; [exact weights |]. intros o.
    unfold disagree, gap_at_most. destruct (same _ _) as [_ | Hne]; [discriminate |]. intros _.
    destruct (Rle_dec _ _) as [_ | Hgap]; [reflexivity | exfalso]. apply Hne.
    assert (2 * (xi + L_Q * eps) < gap same actions (Q (s o))) as Hclear by lra.
    rewrite (greedy_is_stable same actions _ _ _ (scores_close xi L_Q eps s1 o HL Hf HQ (H1 o)) Hclear).
    rewrite (greedy_is_stable same actions _ _ _ (scores_close xi L_Q eps s2 o HL Hf HQ (H2 o)) Hclear). reflexivity.
  Qed.

  (** Under a margin condition P(gap <= x) <= C_m x^alpha (asm:margin with its constant), for any real alpha. *)
  (* label: thm:cf_metric *)
  (* label: asm:margin *)
  Theorem unfairness_under_margin (xi L_Q eps C_m alpha : R) :
    0 <= L_Q -> 0 < xi + L_Q * eps ->
    (forall x a, Rabs (f x a - Q x a) <= xi) ->
    (forall x y a, Rabs (Q x a - Q y a) <= L_Q * distance x y) ->
    (forall o, distance (s1 o) (s o) <= eps) -> (forall o, distance (s2 o) (s o) <= eps) ->
    (forall x, 0 < x -> prob people (gap_at_most Q x) <= C_m * Rpower x alpha) ->
    prob people disagree <= C_m * Rpower (2 * (xi + L_Q * eps)) alpha.
  Proof.
    intros HL Hpos Hf HQ H1 H2 Hmargin.
    apply Rle_trans with (1 := unfairness_is_controlled xi L_Q eps HL Hf HQ H1 H2). apply Hmargin. lra.
  Qed.

  (** Without xi: the gap and the Lipschitz constant of f itself; zero when the estimates agree with the truth. *)
  (* label: thm:cf_metric *)
  Theorem unfairness_by_the_learned_gap (L_f eps : R) :
    0 <= L_f ->
    (forall x y a, Rabs (f x a - f y a) <= L_f * distance x y) ->
    (forall o, distance (s1 o) (s o) <= eps) -> (forall o, distance (s2 o) (s o) <= eps) ->
    prob people disagree <= prob people (gap_at_most f (2 * (L_f * eps))).
  Proof.
    intros HL Hf H1 H2. apply prob_le; [exact weights |]. intros o.
    unfold disagree, gap_at_most. destruct (same _ _) as [_ | Hne]; [discriminate |]. intros _.
    destruct (Rle_dec _ _) as [_ | Hgap]; [reflexivity | exfalso]. apply Hne.
    assert (Hclose : forall t : Omega -> X, distance (t o) (s o) <= eps ->
              forall a, Rabs (f (t o) a - f (s o) a) <= L_f * eps).
    { intros t Ht a. pose proof (Hf (t o) (s o) a). pose proof (Rmult_le_compat_l _ _ _ HL Ht). lra. }
    assert (2 * (L_f * eps) < gap same actions (f (s o))) as Hclear by lra.
    rewrite (greedy_is_stable same actions _ _ _ (Hclose s1 (H1 o)) Hclear).
    rewrite (greedy_is_stable same actions _ _ _ (Hclose s2 (H2 o)) Hclear). reflexivity.
  Qed.

  (* label: thm:cf_metric *)
  Theorem exact_states_are_treated_alike :
    (forall o, s1 o = s2 o) -> prob people disagree = 0.
  Proof.
    intros E. unfold prob. rewrite (expect_ext _ _ (fun _ => 0 * 0)).
    - rewrite expect_scale. ring.
    - intros o. unfold disagree. rewrite E. destruct (same _ _); [ring | contradiction].
  Qed.
End UnfairnessControl.

(** ** Two actions on the real line, used as witness here and in [Refutations] *)

Definition two_actions : finite_actions bool.
Proof. refine {| first_action := false; other_actions := [true] |}. intros []; simpl; auto. Defined.

Lemma greedy_two (q : bool -> R) : greedy two_actions q = if Rlt_dec (q false) (q true) then true else false.
Proof. reflexivity. Qed.

Lemma gap_two (q : bool -> R) : gap bool_dec two_actions q = Rabs (q true - q false).
Proof.
  unfold gap, best. rewrite greedy_two. destruct (Rlt_dec (q false) (q true)); simpl.
  - rewrite Rabs_pos_eq; lra.
  - rewrite Rabs_left1; lra.
Qed.

(** Q*(x, 1) = x and Q*(x, 0) = -x: gap 2 |x|, Lipschitz constant 1.  The estimate moves the boundary from 0 to xi. *)
Definition Q_line (x : R) (a : bool) : R := if a then x else - x.
Definition f_line (xi : R) (x : R) (a : bool) : R := if a then x - xi else - (x - xi).
Definition distance_line (x y : R) : R := Rabs (x - y).

Lemma f_line_error xi x a : 0 <= xi -> Rabs (f_line xi x a - Q_line x a) <= xi.
Proof. intros H. unfold f_line, Q_line. destruct a; apply Rabs_le; lra. Qed.

Lemma Q_line_lipschitz x y a : Rabs (Q_line x a - Q_line y a) <= 1 * distance_line x y.
Proof.
  unfold Q_line, distance_line. rewrite Rmult_1_l. destruct a; [lra |].
  replace (- x - - y) with (- (x - y)) by ring. rewrite Rabs_Ropp. lra.
Qed.

Lemma gap_line_abs x : gap bool_dec two_actions (Q_line x) = 2 * Rabs x.
Proof.
  rewrite gap_two. unfold Q_line. replace (x - - x) with (2 * x) by ring.
  rewrite Rabs_mult, (Rabs_pos_eq 2); lra.
Qed.

Lemma gap_line x : 0 <= x -> gap bool_dec two_actions (Q_line x) = 2 * x.
Proof. intros H. rewrite gap_line_abs, Rabs_pos_eq by exact H. reflexivity. Qed.

Lemma greedy_line_above xi x : xi < x -> greedy two_actions (f_line xi x) = true.
Proof. intros H. rewrite greedy_two. unfold f_line. destruct (Rlt_dec _ _); [reflexivity | lra]. Qed.

Lemma greedy_line_below xi x : x < xi -> greedy two_actions (f_line xi x) = false.
Proof. intros H. rewrite greedy_two. unfold f_line. destruct (Rlt_dec _ _); [lra | reflexivity]. Qed.

(** States may be clipped to [-1, 1], so that features and rewards are bounded everywhere. *)
Definition clip (s : R) : R := Rmax (-1) (Rmin s 1).
Definition sign (b : bool) : R := if b then 1 else -1.

Lemma clip_bounds s : -1 <= clip s <= 1.
Proof. unfold clip. split; [apply Rmax_l | apply Rmax_lub; [lra | apply Rmin_r]]. Qed.

Lemma clip_inside s : -1 <= s <= 1 -> clip s = s.
Proof. intros H. unfold clip. rewrite Rmin_left, Rmax_right; lra. Qed.

Lemma clip_above s : 1 <= s -> clip s = 1.
Proof. intros H. unfold clip. rewrite Rmin_right, Rmax_right; lra. Qed.

Lemma clip_below s : s <= -1 -> clip s = -1.
Proof. intros H. unfold clip. rewrite Rmin_left by lra. apply Rmax_left. exact H. Qed.

Lemma clip_sign s : (0 < s -> 0 < clip s) /\ (s < 0 -> clip s < 0).
Proof.
  unfold clip, Rmin, Rmax. destruct (Rle_dec s 1); [destruct (Rle_dec (-1) s) | destruct (Rle_dec (-1) 1)]; lra.
Qed.

Lemma clip_strict s : (-1 < s -> -1 < clip s) /\ (s < 1 -> clip s < 1).
Proof.
  unfold clip, Rmin, Rmax. destruct (Rle_dec s 1); [destruct (Rle_dec (-1) s) | destruct (Rle_dec (-1) 1)]; lra.
Qed.

Lemma clip_lipschitz x y : Rabs (clip x - clip y) <= Rabs (x - y).
Proof.
  unfold clip, Rmin, Rmax, Rabs.
  repeat destruct (Rle_dec _ _); repeat destruct (Rcase_abs _); lra.
Qed.

(** The constant 2 is sharp: for any c < 2 there is a person who is always treated differently although the gap exceeds
    c (xi + eps). *)
(* label: thm:cf_metric *)
Theorem constant_two_is_sharp (xi eps c : R) :
  0 <= xi -> 0 < eps -> c < 2 ->
  exists x : R,
    let people := surely x in
    prob people (disagree bool_dec two_actions (fun x => x - eps) (fun x => x + eps) (f_line xi)) = 1
    /\ prob people (gap_at_most bool_dec two_actions (fun x => x) Q_line (c * (xi + eps))) = 0.
Proof.
  intros Hxi Heps Hc.
  set (low := Rmax 0 (Rmax (c * (xi + eps) / 2) (xi - eps))).
  assert (Hlow : low < xi + eps).
  { unfold low. apply Rmax_lub_lt; [lra |]. apply Rmax_lub_lt; [| lra].
    assert (c * (xi + eps) < 2 * (xi + eps)) by (apply Rmult_lt_compat_r; lra). lra. }
  exists ((low + (xi + eps)) / 2). cbv zeta.
  pose proof (Rmax_l 0 (Rmax (c * (xi + eps) / 2) (xi - eps))).
  pose proof (Rmax_r 0 (Rmax (c * (xi + eps) / 2) (xi - eps))).
  pose proof (Rmax_l (c * (xi + eps) / 2) (xi - eps)). pose proof (Rmax_r (c * (xi + eps) / 2) (xi - eps)).
  fold low in H, H0. set (x := (low + (xi + eps)) / 2) in *.
  assert (low < x < xi + eps) by (unfold x; lra).
  split; unfold prob; rewrite expect_surely.
  - unfold disagree. rewrite greedy_line_below, greedy_line_above by lra. reflexivity.
  - unfold gap_at_most. rewrite gap_line by lra. destruct (Rle_dec _ _); [lra | reflexivity].
Qed.
