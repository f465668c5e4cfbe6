(** * Printed inequalities that are false, each with a rational witness

    Each display is stated as a proposition in the generality in which it is used, and then denied.  The comment above a
    theorem gives the witness and the two numbers that it compares.  Corrected forms are proved in the other files. *)

From Coq Require Import List Reals Lra Lia Bool.
From Counterfair Require Import Finite ValueIteration Margin.
Import ListNotations.
Open Scope R_scope.

(** ** Norms: D4, D6, D9 *)

Definition norm_inf (v : R * R) : R := Rmax (Rabs (fst v)) (Rabs (snd v)).
Definition sqr_norm2 (v : R * R) : R := fst v * fst v + snd v * snd v.
Definition dot2 (u v : R * R) : R := fst u * fst v + snd u * snd v.

Lemma norm_inf_11 : norm_inf (1, 1) = 1.
Proof. unfold norm_inf; simpl. rewrite Rabs_R1. apply Rmax_left. lra. Qed.

(** |w . phi| <= ||w||_inf ||phi||_inf.  w = phi = (1, 1):  2 > 1. *)
Definition D4_printed : Prop := forall w phi, Rabs (dot2 w phi) <= norm_inf w * norm_inf phi.

(* label: D4 *)
Theorem D4_is_false : ~ D4_printed.
Proof.
  intros H. specialize (H (1, 1) (1, 1)). rewrite !norm_inf_11 in H. unfold dot2 in H; simpl in H.
  rewrite Rabs_pos_eq in H; lra.
Qed.

(** ||A^-1 v||_inf <= ||A^-1||_2 ||v||_inf, for A^-1 = [[a, b], [b, c]] positive definite and ||A^-1||_2 at most k.
    A^-1 = [[201/100, 1], [1, 51/100]], k = 251/100, v = (1, 1):  301/100 > 251/100. *)
Definition D6_printed : Prop :=
  forall a b c k v, 0 < a -> 0 < a * c - b * b -> 0 <= k ->
    let apply (v : R * R) := (a * fst v + b * snd v, b * fst v + c * snd v) in
    (forall u, sqr_norm2 (apply u) <= k * k * sqr_norm2 u) ->
    norm_inf (apply v) <= k * norm_inf v.

(* label: D6 *)
Theorem D6_is_false : ~ D6_printed.
Proof.
  intros H. specialize (H (201/100) 1 (51/100) (251/100) (1, 1) ltac:(lra) ltac:(lra) ltac:(lra)).
  cbv zeta in H. rewrite norm_inf_11 in H.
  assert (L : norm_inf (201/100 * 1 + 1 * 1, 1 * 1 + 51/100 * 1) <= 251/100 * 1).
  { apply H. intros [x y]. unfold sqr_norm2; simpl. pose proof (Rle_0_sqr (x - 2 * y)). unfold Rsqr in *. lra. }
  unfold norm_inf in L; simpl in L. pose proof (Rmax_l (Rabs (201/100 * 1 + 1 * 1)) (Rabs (1 * 1 + 51/100 * 1))) as M.
  rewrite (Rabs_pos_eq (201/100 * 1 + 1 * 1)) in * by lra. lra.
Qed.

(** Dropping factors |phi| <= 1 inside an absolute value, two rows, features j and k.
    phi_j = (1, -1), phi_k = (1/10, -1/10), hats: phi_j unchanged, phi_k hat = (0, 0):  1/5 > 0. *)
Definition D9_printed : Prop :=
  forall j1 j2 k1 k2 jh1 jh2 kh1 kh2,
    (forall x, In x [j1; j2; k1; k2; jh1; jh2; kh1; kh2] -> Rabs x <= 1) ->
    Rabs ((j1 * (k1 - kh1) + (j1 - jh1) * kh1) + (j2 * (k2 - kh2) + (j2 - jh2) * kh2))
    <= Rabs (((k1 - kh1) + (j1 - jh1)) + ((k2 - kh2) + (j2 - jh2))).

(* label: D9 *)
Theorem D9_is_false : ~ D9_printed.
Proof.
  intros H. specialize (H 1 (-1) (1/10) (-1/10) 1 (-1) 0 0).
  assert (B : forall x, In x [1; -1; 1/10; -1/10; 1; -1; 0; 0] -> Rabs x <= 1).
  { intros x Hx. repeat (destruct Hx as [<- | Hx]; [apply Rabs_le; lra |]). destruct Hx. }
  specialize (H B).
  replace (1/10 - 0 + (1 - 1) + (-1/10 - 0 + (-1 - -1))) with 0 in H by lra. rewrite Rabs_R0 in H.
  pose proof (Rle_abs (1 * (1/10 - 0) + (1 - 1) * 0 + (-1 * (-1/10 - 0) + (-1 - -1) * 0))). lra.
Qed.

(** ** D14: the Lipschitz constant of f is not that of the features

    d = 1, one row, one action, phi(s) = s, f = w phi, V = R_max / (1 - gamma), |f| <= V on the states used.
    gamma = 9/10, R_max = 1, w = 10, s = s' = 1, estimates 99/100, r exact:  1891/10000 > 119/1000. *)
Definition D14_printed : Prop :=
  forall gamma R_max w s s_hat s' s_hat' r r_hat eps,
    0 <= gamma < 1 -> Rabs r <= R_max -> Rabs s <= 1 -> Rabs s_hat <= 1 ->
    Rabs (w * s') <= R_max / (1 - gamma) -> Rabs (w * s_hat') <= R_max / (1 - gamma) ->
    Rabs (s_hat - s) + Rabs (r_hat - r) <= eps -> Rabs (s_hat' - s') + Rabs (r_hat - r) <= eps ->
    Rabs (s * (r + gamma * (w * s')) - s_hat * (r_hat + gamma * (w * s_hat')))
    <= (1 + gamma * 1 + R_max * 1 / (1 - gamma)) * 1 * eps.

(* label: D14 *)
Theorem D14_is_false : ~ D14_printed.
Proof.
  intros H. specialize (H (9/10) 1 10 1 (99/100) 1 (99/100) 1 1 (1/100)).
  replace (1 / (1 - 9/10)) with 10 in H by lra. replace (1 * 1 / (1 - 9/10)) with 10 in H by lra.
  assert (L : Rabs (1 * (1 + 9/10 * (10 * 1)) - 99/100 * (1 + 9/10 * (10 * (99/100))))
              <= (1 + 9/10 * 1 + 10) * 1 * (1/100)).
  { replace (1 - 1) with 0 in H by ring. rewrite Rabs_R0 in H.
    apply H; try lra; try (apply Rabs_le; lra); rewrite Rabs_left1; lra. }
  rewrite Rabs_pos_eq in L; lra.
Qed.

(** ** D13: the first term of the regret bound needs lambda_0 > 4 d L eps

    d = 2, L = 1, lambda_0 = 1/2, eps = 1/10, gamma = 9/10, R_max = 1: the "bound" is negative, for every C > 0. *)
Definition regret_term_1 (C d L R_max eps lambda_0 gamma : R) : R :=
  C * d * L * R_max * eps / (lambda_0 * (lambda_0 - 4 * d * L * eps) * (1 - gamma) ^ 3).

(* label: D13 *)
Theorem D13_needs_coverage (C : R) : 0 < C -> regret_term_1 C 2 1 1 (1/10) (1/2) (9/10) < 0.
Proof.
  intros HC. unfold regret_term_1.
  replace (C * 2 * 1 * 1 * (1 / 10) / (1 / 2 * (1 / 2 - 4 * 2 * 1 * (1 / 10)) * (1 - 9 / 10) ^ 3)) with (- (4000 / 3) * C)
    by (simpl; field). lra.
Qed.

(** ** D19: the coefficients are not bounded by the function

    Features (1, 1) and (1, 1 - 1/k); w = (-k, k) gives values 0 and -1, with ||w||_inf = k. *)
Definition D19_printed : Prop :=
  exists C : R, forall w phi_1 phi_2 V, 0 <= V ->
    norm_inf phi_1 <= 1 -> norm_inf phi_2 <= 1 -> fst phi_1 * snd phi_2 - snd phi_1 * fst phi_2 <> 0 ->
    Rabs (dot2 w phi_1) <= V -> Rabs (dot2 w phi_2) <= V -> norm_inf w <= C * V.

(* label: D19 *)
Theorem D19_is_false : ~ D19_printed.
Proof.
  intros [C H]. set (k := Rabs C + 2). pose proof (Rabs_pos C). pose proof (Rle_abs C).
  assert (Hk : 0 < / k <= 1).
  { split; [apply Rinv_0_lt_compat; unfold k; lra |].
    rewrite <- Rinv_1. apply Rinv_le_contravar; unfold k; lra. }
  assert (kk : k * / k = 1) by (apply Rinv_r; unfold k; lra).
  specialize (H (- k, k) (1, 1) (1, 1 - / k) 1 ltac:(lra)).
  assert (L : norm_inf (- k, k) <= C * 1).
  { apply H.
    - rewrite norm_inf_11. lra.
    - unfold norm_inf; simpl. apply Rmax_lub; apply Rabs_le; lra.
    - simpl. lra.
    - unfold dot2; simpl. replace (- k * 1 + k * 1) with 0 by ring. rewrite Rabs_R0. lra.
    - unfold dot2; simpl. replace (- k * 1 + k * (1 - / k)) with (- (k * / k)) by ring.
      rewrite kk, Rabs_Ropp, Rabs_R1. lra. }
  unfold norm_inf in L; simpl in L. pose proof (Rmax_r (Rabs (- k)) (Rabs k)). pose proof (Rle_abs k). unfold k in *. lra.
Qed.

(** ** D3: the initial function matters

    One state, one action, reward 1, gamma = 9/10, Q* = 10.  Start at -10 and iterate without error: after B steps
    the error is 20 (9/10)^B, twice the printed gamma^B R_max / (1 - gamma); at B = 10, 6.97 > 3.49. *)
Definition one_action : finite_actions unit.
Proof. refine {| first_action := tt; other_actions := [] |}. intros []. simpl. auto. Defined.

Definition constant_world : mdp unit unit unit.
Proof.
  refine {| mdp_actions := one_action; mdp_law _ _ := surely tt; mdp_next _ _ _ := tt; mdp_rew _ _ _ := 1;
            mdp_gamma := 9/10; mdp_R_max := 1 |}; try lra.
  - intros _ _. apply surely_is_law.
  - intros _ _ _. rewrite Rabs_R1. lra.
Defined.

Definition D3_printed : Prop :=
  forall (X A W : Type) (M : mdp X A W) (f : nat -> X -> A -> R) (e : nat -> R) (B : nat),
    close (V_max M) (f O) (fun _ _ => 0) ->
    (forall b, close (e b) (f (S b)) (bellman M (f b))) ->
    close (sum B (fun t => mdp_gamma M ^ t * e (B - 1 - t)%nat) + mdp_gamma M ^ B * mdp_R_max M / (1 - mdp_gamma M))
          (f B) (Q_star M).

Lemma constant_world_Q : Q_star constant_world tt tt = 10.
Proof.
  pose proof (Q_star_is_fixed constant_world tt tt) as H. unfold bellman, best in H. simpl in H.
  change (greedy one_action (Q_star constant_world tt)) with tt in H. lra.
Qed.

(* label: D3 *)
Theorem D3_is_false : ~ D3_printed.
Proof.
  intros H.
  specialize (H unit unit unit constant_world (fun b _ _ => 10 - 20 * (9/10) ^ b) (fun _ => 0) 10%nat).
  assert (L : close (sum 10 (fun t => (9/10) ^ t * 0) + (9/10) ^ 10 * 1 / (1 - 9/10))
                (fun _ _ => 10 - 20 * (9/10) ^ 10) (Q_star constant_world)).
  { apply H.
    - intros [] []. unfold V_max; simpl. rewrite Rabs_left1; lra.
    - intros b [] []. unfold bellman, best; simpl. replace (_ - _) with 0 by field. rewrite Rabs_R0. lra. }
  specialize (L tt tt). rewrite constant_world_Q in L.
  replace (10 - 20 * (9/10) ^ 10 - 10) with (- (20 * (9/10) ^ 10)) in L by ring.
  assert (P : 0 < (9/10) ^ 10) by (apply pow_lt; lra).
  rewrite Rabs_Ropp, Rabs_pos_eq in L by lra.
  rewrite (sum_ext 10 _ (fun _ => 0)), sum_const in L by (intros; ring).
  replace ((9/10) ^ 10 * 1 / (1 - 9/10)) with (10 * (9/10) ^ 10) in L by field. lra.
Qed.

(** ** D22: a factor 2 is missing, and it shows when gamma < 1/2

    gamma = 3/10, B = 3, exact value iteration from zero.  From the root, one action leads after three steps to reward 1
    for ever, the other - with 1/100 at once - to reward -1 for ever; three iterations cannot see it.
    Regret 2 (27/1000)/(7/10) - 1/100 = 0.0671 > 0.0551 = (27/1000)/(49/100). *)
Inductive node : Set := root | good1 | good2 | good | bad1 | bad2 | bad.

Definition fork_next (x : node) (a : bool) (_ : unit) : node :=
  match x with
  | root => if a then good1 else bad1
  | good1 => good2 | good2 | good => good
  | bad1 => bad2 | bad2 | bad => bad
  end.

Definition fork_rew (x : node) (a : bool) (_ : unit) : R :=
  match x with
  | root => if a then 0 else 1/100
  | good => 1
  | bad => -1
  | _ => 0
  end.

Definition fork : mdp node bool unit.
Proof.
  refine {| mdp_actions := two_actions; mdp_law _ _ := surely tt; mdp_next := fork_next; mdp_rew := fork_rew;
            mdp_gamma := 3/10; mdp_R_max := 1 |}; try lra.
  - intros _ _. apply surely_is_law.
  - intros [] [] []; simpl; apply Rabs_le; lra.
Defined.

Definition fork_memory : memory fork node.
Proof. refine (Build_memory _ _ _ fork _ (fun x => x) fork_next _). reflexivity. Defined.

Definition D22_term_3_printed : Prop :=
  forall (X A W H : Type) (M : mdp X A W) (K : memory M H) (B : nat) (h : H) (v : R),
    has_value M K (greedy_for M (fun h => iterate M B (memory_state K h))) h v ->
    V_star M (memory_state K h) - v <= mdp_gamma M ^ B * mdp_R_max M / (1 - mdp_gamma M) ^ 2.

Section Fork.
  Let rho : node -> list (R * bool) := greedy_for fork (iterate fork 3).

  Lemma fork_V_step x (y : R) (c : R) :
    (forall a, fork_rew x a tt = c) -> (forall a, V_star fork (fork_next x a tt) = y) -> V_star fork x = c + 3/10 * y.
  Proof.
    intros Hc Hy. set (a := greedy two_actions (Q_star fork x)).
    change (Q_star fork x a = c + 3/10 * y). rewrite <- (Q_star_is_fixed fork x a), <- (Hc a), <- (Hy a).
    apply (expect_surely tt (fun w => fork_rew x a w + 3/10 * V_star fork (fork_next x a w))).
  Qed.

  Lemma V_good : V_star fork good = 10/7.
  Proof. pose proof (fork_V_step good (V_star fork good) 1 (fun _ => eq_refl) (fun _ => eq_refl)). lra. Qed.

  Lemma V_root : 2/7 * (27/200) <= V_star fork root.
  Proof.
    pose proof (fork_V_step good2 (V_star fork good) 0 (fun _ => eq_refl) (fun _ => eq_refl)) as H2.
    pose proof (fork_V_step good1 (V_star fork good2) 0 (fun _ => eq_refl) (fun _ => eq_refl)) as H1.
    rewrite V_good in H2. rewrite H2 in H1.
    pose proof (greedy_best two_actions (Q_star fork root) true) as Hb.
    change (best two_actions (Q_star fork root)) with (V_star fork root) in Hb.
    rewrite <- Q_star_is_fixed in Hb. unfold bellman in Hb. simpl in Hb.
    change (best two_actions (Q_star fork good1)) with (V_star fork good1) in Hb. lra.
  Qed.

  Lemma rho_legal : legal rho.
  Proof. apply greedy_for_legal. Qed.

  Lemma fork_value_step x (y : bool -> R) :
    (forall a, has_value fork fork_memory rho (fork_next x a tt) (y a)) ->
    let a := greedy two_actions (iterate fork 3 x) in
    has_value fork fork_memory rho x (fork_rew x a tt + 3/10 * y a).
  Proof.
    intros Hy a.
    pose proof (value_step fork fork_memory rho x (fun a _ => y a)) as L.
    replace (fork_rew x a tt + 3/10 * y a) with
      (expect (rho x) (fun a => expect (surely tt) (fun w => fork_rew x a w + 3/10 * y a))).
    - apply L. intros a' []. apply Hy.
    - unfold rho, greedy_for. rewrite !expect_surely. reflexivity.
  Qed.

  Lemma value_bad : has_value fork fork_memory rho bad (- (10/7)).
  Proof.
    destruct (value_exists fork fork_memory rho bad rho_legal) as [y Hy].
    pose proof (fork_value_step bad (fun _ => y) (fun _ => Hy)) as L. cbv zeta in L.
    pose proof (UL_sequence _ _ _ Hy L) as E. simpl in E.
    replace (- (10/7)) with y by lra. exact Hy.
  Qed.

  Lemma value_bad1 : has_value fork fork_memory rho bad1 (- (9/70)).
  Proof.
    pose proof (fork_value_step bad2 (fun _ => - (10/7)) (fun _ => value_bad)) as L2. cbv zeta in L2.
    pose proof (fork_value_step bad1 (fun _ => 0 + 3/10 * - (10/7)) (fun _ => L2)) as L1. cbv zeta in L1. simpl in L1.
    replace (- (9/70)) with (0 + 3/10 * (0 + 3/10 * - (10/7))) by lra. exact L1.
  Qed.

  Lemma iterate_flat n x : In x [bad1; bad2; good1; good2] -> (n <= 1)%nat -> forall a, iterate fork n x a = 0.
  Proof.
    intros Hx Hn a. destruct n as [| [| n]]; [reflexivity | | lia]. simpl. unfold bellman, best. simpl.
    destruct Hx as [<- | [<- | [<- | [<- | []]]]]; simpl; ring.
  Qed.

  Lemma three_iterations_prefer_bad : greedy two_actions (iterate fork 3 root) = false.
  Proof.
    rewrite greedy_two.
    assert (two : forall x, In x [bad1; good1] -> forall a, iterate fork 2 x a = 0).
    { intros x Hx a. change (iterate fork 2 x a) with (bellman fork (iterate fork 1) x a). unfold bellman, best.
      destruct Hx as [<- | [<- | []]]; simpl mdp_law; rewrite expect_surely; simpl mdp_rew; simpl mdp_next;
        rewrite iterate_flat by (simpl; auto); simpl; ring. }
    assert (value : forall a, iterate fork 3 root a = if a then 0 else 1/100).
    { intros a. change (iterate fork 3 root a) with (bellman fork (iterate fork 2) root a). unfold bellman, best.
      simpl mdp_law. rewrite expect_surely. simpl mdp_rew. simpl mdp_next.
      destruct a; rewrite two by (simpl; auto); simpl; ring. }
    rewrite !value. destruct (Rlt_dec _ _); [lra | reflexivity].
  Qed.

  (* label: D22 *)
  Theorem D22_term_3_is_false : ~ D22_term_3_printed.
  Proof.
    intros H. destruct (value_exists fork fork_memory rho good1 rho_legal) as [y Hy].
    pose proof (fork_value_step root (fun a => if a then y else - (9/70))) as L. cbv zeta in L.
    rewrite three_iterations_prefer_bad in L. simpl in L.
    assert (Hroot : has_value fork fork_memory rho root (1/100 + 3/10 * - (9/70))).
    { apply L. intros [|]; [exact Hy | exact value_bad1]. }
    specialize (H node bool unit node fork fork_memory 3%nat root _ Hroot). simpl in H.
    pose proof V_root. lra.
  Qed.
End Fork.

(** ** D16: the reward error survives when L or R_max vanish

    A bandit: one state, two actions, gamma = 1/2, one-hot features (d = 2, lambda_0 = 1/2, Lipschitz with every L > 0).
    The learner runs to convergence on rewards that are off by eps, and picks the worse action. *)
Definition bandit (r : bool -> R) (R_max : R) (bounded : forall a, Rabs (r a) <= R_max) : mdp unit bool unit.
Proof.
  refine {| mdp_actions := two_actions; mdp_law _ _ := surely tt; mdp_next _ _ _ := tt; mdp_rew _ a _ := r a;
            mdp_gamma := 1/2; mdp_R_max := R_max |}; try lra.
  - intros _ _. apply surely_is_law.
  - intros _ a _. apply bounded.
  - apply Rle_trans with (2 := bounded true). apply Rabs_pos.
Defined.

Definition bandit_memory r R_max bounded : memory (bandit r R_max bounded) unit.
Proof. refine (Build_memory _ _ _ (bandit r R_max bounded) _ (fun x => x) (fun _ _ _ => tt) _). reflexivity. Defined.

(** The estimates r_hat are within eps of r, and acting greedily on Q* of the bandit with rewards r_hat has, in the bandit
    with rewards r, a regret above the bound. *)
Definition bandit_regret_exceeds (r r_hat : bool -> R) (R_max eps bound : R) : Prop :=
  (forall a, Rabs (r_hat a - r a) <= eps)
  /\ exists (b : forall a, Rabs (r a) <= R_max) (R_hat : R) (b_hat : forall a, Rabs (r_hat a) <= R_hat) (v : R),
       has_value (bandit r R_max b) (bandit_memory r R_max b)
         (greedy_for (bandit r R_max b) (Q_star (bandit r_hat R_hat b_hat))) tt v
       /\ bound < V_star (bandit r R_max b) tt - v.

Lemma bandit_Q r R_max b a :
  Q_star (bandit r R_max b) tt a = r a + 1/2 * V_star (bandit r R_max b) tt.
Proof. rewrite <- Q_star_is_fixed at 1. unfold bellman. simpl. unfold V_star. simpl. ring. Qed.

(** If the estimates prefer [false] and [true] is better by g, the regret is 2 g. *)
Lemma bandit_regret r r_hat R_max eps bound :
  (forall a, Rabs (r a) <= R_max) -> (forall a, Rabs (r_hat a - r a) <= eps) ->
  r_hat true <= r_hat false -> bound < 2 * (r true - r false) -> bandit_regret_exceeds r r_hat R_max eps bound.
Proof.
  intros b Heps Hhat Hbound. split; [exact Heps |].
  assert (b_hat : forall a, Rabs (r_hat a) <= R_max + eps).
  { intros a. replace (r_hat a) with (r a + (r_hat a - r a)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). specialize (b a). specialize (Heps a). lra. }
  set (rho := greedy_for (H := unit) (bandit r R_max b) (Q_star (bandit r_hat (R_max + eps) b_hat))).
  destruct (value_exists (bandit r R_max b) (bandit_memory r R_max b) rho tt (greedy_for_legal _ _)) as [v Hv].
  exists b, (R_max + eps), b_hat, v. split; [exact Hv |].
  assert (greedily : greedy two_actions (Q_star (bandit r_hat (R_max + eps) b_hat) tt) = false).
  { rewrite greedy_two, !bandit_Q. destruct (Rlt_dec _ _); [lra | reflexivity]. }
  pose proof (value_step (bandit r R_max b) (bandit_memory r R_max b) _ tt (fun _ _ => v) (fun _ _ => Hv)) as L.
  pose proof (UL_sequence _ _ _ Hv L) as E. clear L. unfold rho, greedy_for in E. rewrite expect_surely in E.
  simpl in E. rewrite greedily in E.
  pose proof (greedy_best two_actions (Q_star (bandit r R_max b) tt) true) as Hbest. rewrite bandit_Q in Hbest.
  change (best two_actions (Q_star (bandit r R_max b) tt)) with (V_star (bandit r R_max b) tt) in Hbest. lra.
Qed.

Lemma quotient_below x y D : 0 < D -> x < y * D -> x / D < y.
Proof.
  intros HD H. apply Rmult_lt_reg_r with D; [exact HD |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(** L -> 0.  Rewards 0 and 19/40, estimates 1/4 and 9/40 (eps = 1/4), R_max = 1: regret 19/20 for every L. *)
(* label: D16 *)
Theorem D16_fails_as_L_vanishes (C : R) :
  0 < C ->
  exists L, 0 < L /\ 4 * 2 * L * (1/4) < 1/2
    /\ bandit_regret_exceeds (fun a => if a then 19/40 else 0) (fun a => if a then 9/40 else 1/4) 1 (1/4)
         (regret_term_1 C 2 L 1 (1/4) (1/2) (1/2)).
Proof.
  intros HC. set (L := / (100 * (C + 1))). exists L.
  assert (HL : 0 < L) by (apply Rinv_0_lt_compat; lra).
  assert (E : (100 * (C + 1)) * L = 1) by (apply Rinv_r; lra).
  pose proof (Rmult_lt_0_compat C L HC HL).
  split; [exact HL |]. split; [lra |].
  apply bandit_regret; [intros [|]; apply Rabs_le; lra | intros [|]; apply Rabs_le; lra | lra |]. unfold regret_term_1.
  apply quotient_below; simpl; lra.
Qed.

(** Rewards and errors scaled by c -> 0.  Rewards 0 and 19 c/100, estimates c/10 and 9 c/100 (eps = c/10), R_max = c, L = 1:
    the regret is 19 c/50, the printed term is of order c^2. *)
(* label: D16 *)
Theorem D16_is_not_homogeneous_in_rewards (C : R) :
  0 < C ->
  exists c, 0 < c /\ 4 * 2 * 1 * (c / 10) < 1/2
    /\ bandit_regret_exceeds (fun a => if a then 19/100 * c else 0) (fun a => if a then 9/100 * c else c / 10) c (c / 10)
         (regret_term_1 C 2 1 c (c / 10) (1/2) (1/2)).
Proof.
  intros HC. set (c := / (100 * (C + 1))). exists c.
  assert (Hc : 0 < c) by (apply Rinv_0_lt_compat; lra).
  assert (E : (100 * (C + 1)) * c = 1) by (apply Rinv_r; lra).
  pose proof (Rmult_lt_0_compat C c HC Hc).
  split; [exact Hc |]. split; [lra |].
  apply bandit_regret; [intros [|]; apply Rabs_le; lra | intros [|]; apply Rabs_le; lra | lra |]. unfold regret_term_1.
  apply quotient_below; [simpl; lra |].
  assert (P : 0 < c * (38/100 * (1/2 * (1/2 - 4 * 2 * 1 * (c / 10)) * (1/2) ^ 3) - 2/10 * (C * c))).
  { apply Rmult_lt_0_compat; [exact Hc |]. simpl. lra. }
  simpl in *. lra.
Qed.

(** ** The last steps towards thm:cf_metric

    Supplement E bounds the unfairness by 2^(alpha + 1) xi^alpha + 2^alpha (L eps)^alpha, where xi bounds |f - Q*|.  Two actions on
    the line, margin constant 1, natural alpha, total variation in place of the 2-norm; f and Q* lie in the same linear class of
    bounded features, and L is the Lipschitz constant of the features *and* one of Q*: every doubtful reading is decided in favour of
    the statement.  Here xi is any bound on |f - Q*|.  The printed xi contains constants C_1, C_2 and eps; so what is refuted below is
    this step of the proof, for f anywhere in the class, and nothing is said about how often a regression returns such an f. *)
Definition linear (phi : R -> bool -> R * R) (w : R * R) (x : R) (a : bool) : R := dot2 w (phi x a).

Section PrintedUnfairness.
  Variable event : (R -> bool -> R) -> R -> R -> bool.   (* at this state, gap of Q at most x *)

  Definition cf_metric_printed (alpha : nat) : Prop :=
    forall (people : list (R * R)) (s1 s2 : R -> R) (phi : R -> bool -> R * R) (w_star w_hat : R * R) (xi L eps : R),
      let Q := linear phi w_star in
      let f := linear phi w_hat in
      is_law people -> 0 <= xi -> 0 <= L -> 0 <= eps ->
      (forall x a, norm_inf (phi x a) <= 1) ->
      (forall x y a, norm_inf (fst (phi x a) - fst (phi y a), snd (phi x a) - snd (phi y a)) <= L * distance_line x y) ->
      (forall x y a, Rabs (Q x a - Q y a) <= L * distance_line x y) ->
      (forall x a, Rabs (f x a - Q x a) <= xi) ->
      (forall x, distance_line (s1 x) x <= eps) -> (forall x, distance_line (s2 x) x <= eps) ->
      (forall x, 0 <= x -> prob people (event Q x) <= x ^ alpha) ->
      prob people (disagree bool_dec two_actions s1 s2 f) <= 2 ^ (alpha + 1) * xi ^ alpha + 2 ^ alpha * (L * eps) ^ alpha.
End PrintedUnfairness.

(** The printed gap: best minus the best among the actions that are not optimal; when all tie there are none, and no
    condition. *)
Definition printed_gap_at_most (Q : R -> bool -> R) (x s : R) : bool :=
  if Req_EM_T (Q s true) (Q s false) then false
  else if Rle_dec (Rabs (Q s true - Q s false)) x then true else false.

(** Ties in the model, f in its class.  One feature, phi(s, 1) = s clipped to [-1, 1] and phi(s, 0) = 0, so L = 1; w* = 0, so that
    Q* = 0 for both actions everywhere; w = 1/1000, so that |f - Q*| <= 1/1000 = xi.  A person at 0 is seen at 1/1000 and at -1/1000:
    disagreement 1 against 2 (1/500)^alpha + (1/500)^alpha, for every alpha >= 1.  What is shown: with the printed gap, which sets
    no condition where all actions tie, the bound fails for some f in the class, however small xi and eps.  What is not: that
    fitted Q iteration returns such an f, and with which probability. *)
Definition tied_features (x : R) (a : bool) : R * R := if a then (clip x, 0) else (0, 0).

Lemma norm_inf_le v c : Rabs (fst v) <= c -> Rabs (snd v) <= c -> norm_inf v <= c.
Proof. intros H1 H2. apply Rmax_lub; assumption. Qed.

(* label: E7 *)
Theorem ties_break_the_unfairness_bound (alpha : nat) : (1 <= alpha)%nat -> ~ cf_metric_printed printed_gap_at_most alpha.
Proof.
  intros Ha H.
  specialize (H (surely 0) (fun x => x - 1/1000) (fun x => x + 1/1000) tied_features (0, 0) (1/1000, 0) (1/1000) 1 (1/1000)).
  cbv zeta in H.
  assert (L : prob (surely 0) (disagree bool_dec two_actions (fun x => x - 1/1000) (fun x => x + 1/1000)
                (linear tied_features (1/1000, 0)))
              <= 2 ^ (alpha + 1) * (1/1000) ^ alpha + 2 ^ alpha * (1 * (1/1000)) ^ alpha).
  { apply H; try lra.
    - apply surely_is_law.
    - intros x a. pose proof (clip_bounds x). apply norm_inf_le; destruct a; simpl; apply Rabs_le; lra.
    - intros x y a. rewrite Rmult_1_l. pose proof (clip_lipschitz x y). pose proof (Rabs_pos (x - y)).
      apply norm_inf_le; destruct a; simpl; unfold distance_line; try rewrite Rminus_0_r, Rabs_R0; auto.
    - intros x y a. rewrite Rmult_1_l. unfold linear, dot2, distance_line. cbn [fst snd].
      rewrite !Rmult_0_l, Rplus_0_l, Rminus_0_r, Rabs_R0. apply Rabs_pos.
    - intros x a. pose proof (clip_bounds x). unfold linear, dot2, tied_features. destruct a; simpl; apply Rabs_le; lra.
    - intros x. unfold distance_line. apply Rabs_le. lra.
    - intros x. unfold distance_line. apply Rabs_le. lra.
    - intros x Hx. unfold prob. rewrite expect_surely. unfold printed_gap_at_most.
      destruct (Req_EM_T _ _) as [_ | Hne]; [apply pow_le; exact Hx |].
      exfalso. apply Hne. unfold linear, dot2. simpl. ring. }
  unfold prob in L. rewrite expect_surely in L. unfold disagree in L. rewrite !greedy_two in L.
  unfold linear, dot2, tied_features in L. cbn [fst snd] in L.
  rewrite (clip_inside (0 - 1/1000)), (clip_inside (0 + 1/1000)) in L by lra.
  destruct (Rlt_dec _ _) as [Hlt | _] in L; [exfalso; lra |]. destruct (Rlt_dec _ _) as [_ | Hge] in L; [| exfalso; lra]. simpl in L.
  rewrite Rmult_1_l in L.
  rewrite pow_add, (Rmult_comm (2 ^ alpha) (2 ^ 1)), Rmult_assoc, <- Rpow_mult_distr in L. simpl in L.
  assert (P : (2 * (1/1000)) ^ alpha <= 2 * (1/1000)).
  { destruct alpha as [| alpha]; [lia |]. cbn [pow].
    assert ((2 * (1/1000)) ^ alpha <= 1); [| lra].
    apply Rle_trans with (1 ^ alpha); [apply pow_incr; lra | rewrite pow1; lra]. }
  lra.
Qed.

(** With the gap counted with multiplicity, alpha = 2 still fails.  Features (2 a - 1) (s, 1), s clipped to [-1, 1]; w* = (1, 0),
    w = (1, -1/50).  xi = eps = 1/50; a person stands at 39/1000 with probability (78/1000)^2, else at 1/2:
    (78/1000)^2 = 0.0061 > 0.0048 = 2^3 xi^2 + 2^2 eps^2. *)
Definition E12_people : list (R * R) := [(6084 / 1000000, 39/1000); (1 - 6084 / 1000000, 1/2)].
Definition E12_features (x : R) (a : bool) : R * R := if a then (clip x, 1) else (- clip x, -1).

Lemma E12_greedy b x :
  greedy two_actions (linear E12_features (1, - b) x) = if Rlt_dec b (clip x) then true else false.
Proof.
  rewrite greedy_two. unfold linear, dot2, E12_features. cbn [fst snd].
  destruct (Rlt_dec _ _), (Rlt_dec _ _); try reflexivity; lra.
Qed.

(* label: E12 *)
Theorem E12_is_false : ~ cf_metric_printed (fun Q x s => gap_at_most bool_dec two_actions (fun s => s) Q x s) 2.
Proof.
  intros H. specialize (H E12_people (fun x => x - 1/50) (fun x => x + 1/50) E12_features (1, 0) (1, - (1/50)) (1/50) 1 (1/50)).
  cbv zeta in H.
  assert (L : prob E12_people (disagree bool_dec two_actions (fun x => x - 1/50) (fun x => x + 1/50)
                (linear E12_features (1, - (1/50))))
              <= 2 ^ (2 + 1) * (1/50) ^ 2 + 2 ^ 2 * (1 * (1/50)) ^ 2).
  { apply H; try lra.
    - split; [repeat constructor; simpl; lra | simpl; lra].
    - intros x a. pose proof (clip_bounds x). apply norm_inf_le; destruct a; simpl; apply Rabs_le; lra.
    - intros x y a. rewrite Rmult_1_l. unfold distance_line. apply norm_inf_le; destruct a; simpl.
      + apply clip_lipschitz.
      + replace (- clip x - - clip y) with (- (clip x - clip y)) by ring. rewrite Rabs_Ropp. apply clip_lipschitz.
      + rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rabs_pos.
      + rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rabs_pos.
    - intros x y a. rewrite Rmult_1_l. unfold linear, dot2, distance_line. destruct a; simpl.
      + replace (1 * clip x + 0 * 1 - (1 * clip y + 0 * 1)) with (clip x - clip y) by ring. apply clip_lipschitz.
      + replace (1 * - clip x + 0 * -1 - (1 * - clip y + 0 * -1)) with (- (clip x - clip y)) by ring.
        rewrite Rabs_Ropp. apply clip_lipschitz.
    - intros x a. unfold linear, dot2. destruct a; simpl; apply Rabs_le; lra.
    - intros x. unfold distance_line. apply Rabs_le. lra.
    - intros x. unfold distance_line. apply Rabs_le. lra.
    - assert (G : forall x, 0 <= x <= 1 -> gap bool_dec two_actions (linear E12_features (1, 0) x) = 2 * x).
      { intros x Hx. rewrite gap_two. unfold linear, dot2. simpl. rewrite clip_inside by lra. rewrite Rabs_pos_eq; lra. }
      intros x Hx. unfold prob, E12_people, gap_at_most. cbn [expect]. rewrite !G by lra.
      destruct (Rle_dec (2 * (39/1000)) x) as [H1 | H1]; destruct (Rle_dec (2 * (1/2)) x) as [H2 | H2].
      + assert (1 * 1 <= x * x) by (apply Rmult_le_compat; lra). simpl. lra.
      + assert (78/1000 * (78/1000) <= x * x) by (apply Rmult_le_compat; lra). simpl. lra.
      + lra.
      + pose proof (Rle_0_sqr x). unfold Rsqr in *. simpl. lra. }
  unfold prob, E12_people, disagree in L. cbn [expect] in L. rewrite !E12_greedy in L.
  rewrite (clip_inside (39/1000 - 1/50)), (clip_inside (39/1000 + 1/50)),
          (clip_inside (1/2 - 1/50)), (clip_inside (1/2 + 1/50)) in L by lra.
  destruct (Rlt_dec (1/50) (39/1000 - 1/50)); [lra |]. destruct (Rlt_dec (1/50) (39/1000 + 1/50)); [| lra].
  destruct (Rlt_dec (1/50) (1/2 - 1/50)); [| lra]. destruct (Rlt_dec (1/50) (1/2 + 1/50)); [| lra].
  simpl in L. lra.
Qed.

(** At alpha = 1 the same reading is true: E12 fails by its exponent, not by its constant. *)
(* label: E12 *)
Theorem E12_holds_at_alpha_one : cf_metric_printed (fun Q x s => gap_at_most bool_dec two_actions (fun s => s) Q x s) 1.
Proof.
  intros people s1 s2 phi w_star w_hat xi L eps Q f Hlaw Hxi HL Heps _ _ HQ Hf H1 H2 Hmargin.
  apply Rle_trans with (1 := unfairness_is_controlled bool_dec two_actions people (fun s => s) s1 s2 (proj1 Hlaw)
                               Q f distance_line xi L eps HL Hf HQ H1 H2).
  pose proof (Rmult_le_pos _ _ HL Heps). apply Rle_trans with (1 := Hmargin (2 * (xi + L * eps)) ltac:(lra)). simpl. lra.
Qed.

(** ** E8, E9, E10: steps, as above *)

(** Two different one-hot vectors are at 2-norm sqrt 2, not 1: squared, 2 > 1. *)
(* label: E8 *)
Theorem E8_is_false : ~ (forall a b : bool, let one_hot (a : bool) := if a then (1, 0) else (0, 1) in
  sqr_norm2 (fst (one_hot a) - fst (one_hot b), snd (one_hot a) - snd (one_hot b)) <= 1).
Proof. intros H. specialize (H true false). unfold sqr_norm2 in H. simpl in H. lra. Qed.

(** The margin of s says nothing about s_hat, even when both take the same values.  alpha = 1 and the margin's constant is 1; what is bounded is
    P(pi_hat(s_hat) <> pi_star(s_hat)), which is sqrt 2 times less than the printed left side.
    s = 1/10 with probability 99/100, 0 and -1/10 with probability 1/200 each; s_hat swaps 1/10 and 0.  Q(s, true) - Q(s, false) = 1, 1/25, -1, so
    that P(gap(s) <= x) <= x; f is off by 1/20 and turns at 0 alone: 99/100 > 1/10. *)
Definition same_support (people : list (R * R)) (s_hat : R -> R) : Prop :=
  forall x, (exists p s, In (p, s) people /\ 0 < p /\ s_hat s = x) <-> (exists p, In (p, x) people /\ 0 < p).

Definition E9_printed : Prop :=
  forall (people : list (R * R)) (s_hat : R -> R) (Q f : R -> bool -> R) (xi eps : R),
    is_law people -> same_support people s_hat -> (forall s, Rabs (s_hat s - s) <= eps) ->
    (forall x, 0 < x -> prob people (gap_at_most bool_dec two_actions (fun s => s) Q x) <= x) ->
    (forall s a, Rabs (f s a - Q s a) <= xi) ->
    prob people (fun s => xorb (greedy two_actions (f (s_hat s))) (greedy two_actions (Q (s_hat s)))) <= 2 * xi.

Definition E9_people : list (R * R) := [(99/100, 1/10); (1/200, 0); (1/200, - (1/10))].
Definition E9_swap (s : R) : R := if Req_EM_T s (1/10) then 0 else if Req_EM_T s 0 then 1/10 else s.
Definition E9_half (s : R) : R := if Req_EM_T s (1/10) then 1/2 else if Req_EM_T s 0 then 1/50 else - (1/2).
Definition E9_Q (s : R) (a : bool) : R := if a then E9_half s else - E9_half s.
Definition E9_f (s : R) (a : bool) : R := if a then E9_half s - 1/20 else 1/20 - E9_half s.

Lemma E9_swaps : E9_swap (1/10) = 0 /\ E9_swap 0 = 1/10 /\ E9_swap (- (1/10)) = - (1/10).
Proof. unfold E9_swap. repeat split; repeat (destruct (Req_EM_T _ _); try lra). Qed.

Lemma E9_halves : E9_half (1/10) = 1/2 /\ E9_half 0 = 1/50 /\ E9_half (- (1/10)) = - (1/2).
Proof. unfold E9_half. repeat split; repeat (destruct (Req_EM_T _ _); try lra). Qed.

(* label: E9 *)
Theorem E9_is_false : ~ E9_printed.
Proof.
  intros H. destruct E9_swaps as [S1 [S2 S3]]. destruct E9_halves as [V1 [V2 V3]].
  assert (law : is_law E9_people).
  { split; [repeat (apply Forall_cons; [simpl; lra |]); apply Forall_nil | simpl; lra]. }
  assert (support : same_support E9_people E9_swap).
  { intros x. split.
    - intros [p [s [Hin [_ <-]]]]. destruct Hin as [E | [E | [E | []]]]; injection E as _ <-.
      + rewrite S1. exists (1/200). split; [right; left; reflexivity | lra].
      + rewrite S2. exists (99/100). split; [left; reflexivity | lra].
      + rewrite S3. exists (1/200). split; [right; right; left; reflexivity | lra].
    - intros [p [Hin _]]. destruct Hin as [E | [E | [E | []]]]; injection E as _ <-.
      + exists (1/200), 0. split; [right; left; reflexivity |]. split; [lra | exact S2].
      + exists (99/100), (1/10). split; [left; reflexivity |]. split; [lra | exact S1].
      + exists (1/200), (- (1/10)). split; [right; right; left; reflexivity |]. split; [lra | exact S3]. }
  assert (near : forall s, Rabs (E9_swap s - s) <= 1/10).
  { intros s. unfold E9_swap. destruct (Req_EM_T s (1/10)) as [-> | _]; [apply Rabs_le; lra |].
    destruct (Req_EM_T s 0) as [-> | _]; apply Rabs_le; lra. }
  assert (margin : forall x, 0 < x -> prob E9_people (gap_at_most bool_dec two_actions (fun s => s) E9_Q x) <= x).
  { intros x Hx. unfold prob, E9_people, gap_at_most. cbn [expect]. rewrite !gap_two. unfold E9_Q. rewrite V1, V2, V3.
    rewrite (Rabs_pos_eq (1/2 - - (1/2))), (Rabs_pos_eq (1/50 - - (1/50))), (Rabs_left1 (- (1/2) - - - (1/2))) by lra.
    repeat destruct (Rle_dec _ _); lra. }
  assert (error : forall s a, Rabs (E9_f s a - E9_Q s a) <= 1/20).
  { intros s a. unfold E9_f, E9_Q. destruct a; apply Rabs_le; lra. }
  specialize (H E9_people E9_swap E9_Q E9_f (1/20) (1/10) law support near margin error).
  unfold prob, E9_people in H. cbn [expect] in H. rewrite S1, S2, S3, !greedy_two in H. unfold E9_f, E9_Q in H. rewrite V1, V2, V3 in H.
  repeat (destruct (Rlt_dec _ _) in H; try lra); simpl in H; lra.
Qed.

(** L of the features does not control Q* = w phi.  phi(s, a) = s/10 or -s/10 (L = 1/10), w = 10, s = 1/20,
    s_hat = -1/20, eps = 1/10: gap 1/10 > 1/50 = 2 L eps, yet the best action changes. *)
Definition E10_printed : Prop :=
  forall (phi : R -> bool -> R) (w L eps s s_hat : R),
    (forall s s' a, Rabs (phi s a - phi s' a) <= L * Rabs (s - s')) ->
    Rabs (s_hat - s) <= eps ->
    2 * L * eps < gap bool_dec two_actions (fun a => w * phi s a) ->
    greedy two_actions (fun a => w * phi s_hat a) = greedy two_actions (fun a => w * phi s a).

(* label: E10 *)
Theorem E10_is_false : ~ E10_printed.
Proof.
  intros H.
  specialize (H (fun s (a : bool) => if a then s / 10 else - (s / 10)) 10 (1/10) (1/10) (1/20) (- (1/20))).
  assert (E : greedy two_actions (fun a : bool => 10 * (if a then - (1/20) / 10 else - (- (1/20) / 10)))
              = greedy two_actions (fun a : bool => 10 * (if a then 1/20 / 10 else - (1/20 / 10)))).
  { apply H.
    - intros s s' a.
      replace (1/10 * Rabs (s - s')) with (Rabs (1/10) * Rabs (s - s')) by (rewrite (Rabs_pos_eq (1/10)); lra).
      rewrite <- Rabs_mult. destruct a; [right; f_equal; lra |].
      rewrite <- Rabs_Ropp. right. f_equal. lra.
    - rewrite Rabs_left1; lra.
    - rewrite gap_two. rewrite Rabs_pos_eq; lra. }
  rewrite !greedy_two in E. destruct (Rlt_dec _ _); [lra |]. destruct (Rlt_dec _ _); [discriminate | lra].
Qed.
