(** * Hoeffding's inequality for shares, over finite laws

    X_1, ..., X_N independent, each the indicator of an event of probability theta:

      P( (X_1 + ... + X_N) / N <= theta - t ) <= exp(-2 N t^2),    t >= 0. *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import Finite.
Import ListNotations.
Open Scope R_scope.

(** ** The moment generating function: theta e^(-x) + 1 - theta <= exp(x^2/8 - theta x) for x >= 0 *)

Section Moment.
  Variable theta : R.
  Hypothesis theta_bounds : 0 <= theta <= 1.

  Let E (x : R) : R := exp (- x).
  Let D (x : R) : R := (1 - theta) + theta * E x.
  Let G (x : R) : R := x * x * / 8 - theta * x - ln (D x).
  Let G' (x : R) : R := x * / 4 - theta + theta * E x / D x.
  Let G'' (x : R) : R := / 4 - theta * E x * (1 - theta) / Rsqr (D x).

  Lemma D_pos x : 0 < D x.
  Proof.
    unfold D, E. pose proof (exp_pos (- x)) as He.
    destruct (Rle_lt_or_eq_dec theta 1) as [H | ->]; [lra | |].
    - pose proof (Rmult_le_pos theta (exp (- x)) ltac:(lra) ltac:(lra)). lra.
    - lra.
  Qed.

  Lemma E_derives x : derivable_pt_lim E x (- E x).
  Proof.
    unfold E. replace (- exp (- x)) with (exp (- x) * (-1)) by ring.
    apply (derivable_pt_lim_comp (fun x => - x) exp x (-1) (exp (- x))).
    - apply (derivable_pt_lim_opp id x 1), derivable_pt_lim_id.
    - apply derivable_pt_lim_exp.
  Qed.

  Lemma D_derives x : derivable_pt_lim D x (- (theta * E x)).
  Proof.
    replace (- (theta * E x)) with (0 + theta * - E x) by ring.
    apply (derivable_pt_lim_plus (fun _ => 1 - theta) (fun x => theta * E x)).
    - apply derivable_pt_lim_const.
    - apply (derivable_pt_lim_scal E theta x (- E x)), E_derives.
  Qed.

  Lemma square_derives x : derivable_pt_lim (fun x => x * x * / 8) x (x * / 4).
  Proof.
    replace (x * / 4) with ((1 * x + x * 1) * / 8 + x * x * 0) by lra.
    apply (derivable_pt_lim_mult (fun x => x * x) (fun _ => / 8)).
    - apply (derivable_pt_lim_mult id id x 1 1); apply derivable_pt_lim_id.
    - apply derivable_pt_lim_const.
  Qed.

  Lemma G_derives x : derivable_pt_lim G x (G' x).
  Proof.
    unfold G'. replace (x * / 4 - theta + theta * E x / D x)
      with (x * / 4 - theta * 1 - / D x * - (theta * E x)) by (pose proof (D_pos x); field; lra).
    apply (derivable_pt_lim_minus (fun x => x * x * / 8 - theta * x) (fun x => ln (D x))).
    - apply (derivable_pt_lim_minus (fun x => x * x * / 8) (fun x => theta * x)); [apply square_derives |].
      apply (derivable_pt_lim_scal id theta x 1), derivable_pt_lim_id.
    - apply (derivable_pt_lim_comp D ln x _ (/ D x)); [apply D_derives | apply derivable_pt_lim_ln, D_pos].
  Qed.

  Lemma G'_derives x : derivable_pt_lim G' x (G'' x).
  Proof.
    unfold G''. pose proof (D_pos x) as HD.
    replace (/ 4 - theta * E x * (1 - theta) / Rsqr (D x))
      with (((1 * / 4 + x * 0) - 0) + (theta * - E x * D x - - (theta * E x) * (theta * E x)) / Rsqr (D x))
      by (unfold Rsqr, D; fold (D x); unfold D in *; field; lra).
    apply (derivable_pt_lim_plus (fun x => x * / 4 - theta) (fun x => theta * E x / D x)).
    - apply (derivable_pt_lim_minus (fun x => x * / 4) (fun _ => theta)); [| apply derivable_pt_lim_const].
      apply (derivable_pt_lim_mult id (fun _ => / 4)); [apply derivable_pt_lim_id | apply derivable_pt_lim_const].
    - apply (derivable_pt_lim_div (fun x => theta * E x) D).
      + apply (derivable_pt_lim_scal E theta x (- E x)), E_derives.
      + apply D_derives.
      + lra.
  Qed.

  Lemma G''_nonneg x : 0 <= G'' x.
  Proof.
    unfold G''. pose proof (D_pos x) as HD.
    assert (H : theta * E x * (1 - theta) * 4 <= Rsqr (D x)).
    { unfold D, Rsqr. pose proof (Rle_0_sqr (theta * E x - (1 - theta))). unfold Rsqr in *. lra. }
    assert (0 < Rsqr (D x)) by (apply Rsqr_pos_lt; lra).
    assert (theta * E x * (1 - theta) / Rsqr (D x) <= / 4); [| lra].
    apply Rmult_le_reg_r with (Rsqr (D x)); [assumption |].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  Qed.

  Lemma zero_at_start : G 0 = 0 /\ G' 0 = 0.
  Proof.
    assert (E0 : E 0 = 1) by (unfold E; rewrite Ropp_0; apply exp_0).
    assert (D0 : D 0 = 1) by (unfold D; rewrite E0; ring).
    unfold G, G'. rewrite D0, E0, ln_1. split; [ring | field].
  Qed.

  Lemma nonneg_by_derivative (f f' : R -> R) x :
    (forall y, derivable_pt_lim f y (f' y)) -> f 0 = 0 -> (forall y, 0 <= y -> 0 <= f' y) -> 0 <= x -> 0 <= f x.
  Proof.
    intros Hf H0 Hf' Hx. destruct (Rle_lt_or_eq_dec 0 x Hx) as [Hlt | <-]; [| lra].
    destruct (MVT_cor2 f f' 0 x Hlt (fun y _ => Hf y)) as [y [Ey Hy]].
    rewrite H0, !Rminus_0_r in Ey. rewrite Ey. apply Rmult_le_pos; [apply Hf'; lra | lra].
  Qed.

  Lemma moment x : 0 <= x -> (1 - theta) + theta * exp (- x) <= exp (x * x / 8 - theta * x).
  Proof.
    intros Hx.
    assert (H : 0 <= G x).
    { apply (nonneg_by_derivative G G' x G_derives (proj1 zero_at_start)); [| exact Hx]. intros y Hy.
      apply (nonneg_by_derivative G' G'' y G'_derives (proj2 zero_at_start)); [| exact Hy]. intros v _. apply G''_nonneg. }
    fold (E x). fold (D x). rewrite <- (exp_ln (D x) (D_pos x)).
    assert (L : ln (D x) <= x * x / 8 - theta * x) by (unfold G, Rdiv in *; lra).
    destruct L as [L | ->]; [left; apply exp_increasing, L | right; reflexivity].
  Qed.
End Moment.

(** ** Independent draws *)

Section Draws.
  Context {W : Type}.
  Variables (people : list (R * W)) (X : W -> Prop).
  Hypothesis people_law : is_law people.

  (** P(X) *)
  Definition share : R := expect people (fun w => indicator (X w)).

  (** How many of the drawn people are in X. *)
  Fixpoint count (ws : list W) : R :=
    match ws with
    | [] => 0
    | w :: ws => indicator (X w) + count ws
    end.

  Lemma share_bounds : 0 <= share <= 1.
  Proof. split; [apply expect_ge_const | apply expect_le_const]; try exact people_law; intros w; apply indicator_bounds. Qed.

  Lemma one_moment x : expect people (fun w => exp (- x * indicator (X w))) = (1 - share) + share * exp (- x).
  Proof.
    rewrite (expect_ext people _ (fun w => 1 - (1 - exp (- x)) * indicator (X w))).
    - rewrite expect_minus, expect_const, expect_scale by exact people_law. fold share. ring.
    - intros w. unfold indicator. destruct (decide (X w)); rewrite ?Rmult_1_r, ?Rmult_0_r, ?exp_0; ring.
  Qed.

  Lemma all_moments x N : draws people N (fun ws => exp (- x * count ws)) = ((1 - share) + share * exp (- x)) ^ N.
  Proof.
    induction N as [| N IH]; cbn [draws pow]; [simpl; rewrite Rmult_0_r; apply exp_0 |].
    rewrite <- IH, <- one_moment, Rmult_comm, <- expect_scale. apply expect_ext. intros w.
    rewrite Rmult_comm, <- draws_scale. apply draws_ext. intros ws. cbn [count]. rewrite Rmult_plus_distr_l, exp_plus. reflexivity.
  Qed.

  Lemma power_le a b N : 0 <= a <= b -> a ^ N <= b ^ N.
  Proof. intros H. apply pow_incr, H. Qed.

  Lemma exp_power y N : exp y ^ N = exp (INR N * y).
  Proof.
    induction N as [| N IH]; [simpl; rewrite Rmult_0_l, exp_0; reflexivity |].
    rewrite S_INR. cbn [pow]. rewrite IH, <- exp_plus. f_equal. ring.
  Qed.

  (* label: eq:cf_metric *)
  Theorem hoeffding t N :
    0 <= t -> draws people N (fun ws => indicator (count ws <= INR N * (share - t))) <= exp (- 2 * INR N * (t * t)).
  Proof.
    intros Ht. set (x := 4 * t).
    apply Rle_trans with (draws people N (fun ws => exp (x * (INR N * (share - t))) * exp (- x * count ws))).
    - apply draws_le; [apply people_law |]. intros ws _. rewrite <- exp_plus. unfold indicator.
      destruct (decide _) as [H | _]; [| left; apply exp_pos].
      rewrite <- exp_0.
      assert (L : 0 <= x * (INR N * (share - t)) + - x * count ws).
      { assert (0 <= x * (INR N * (share - t) - count ws)) by (apply Rmult_le_pos; unfold x; lra). lra. }
      destruct L as [L | <-]; [left; apply exp_increasing, L | right; reflexivity].
    - rewrite draws_scale, all_moments.
      apply Rle_trans with (exp (x * (INR N * (share - t))) * exp (x * x / 8 - share * x) ^ N).
      + apply Rmult_le_compat_l; [left; apply exp_pos |]. apply power_le. split.
        * pose proof (exp_pos (- x)). pose proof share_bounds. pose proof (Rmult_le_pos share (exp (- x)) ltac:(lra) ltac:(lra)). lra.
        * apply moment; [apply share_bounds | unfold x; lra].
      + rewrite exp_power, <- exp_plus. right. f_equal. unfold x. field.
  Qed.
End Draws.
