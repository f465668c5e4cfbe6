(** * Lemma P: how least squares reacts when features and targets are perturbed

    Rows i < n, features j < d.  w solves the normal equations of (phi, y), w_hat those of (phi_hat, y_hat), and the second
    Gram matrix is at least n c.  Finite sums and Cauchy-Schwarz only: no matrix is inverted.  This replaces the chain
    D4, D6, D14, D16 of the printed proof, three of whose steps are false (see [Refutations]). *)

From Coq Require Import Reals Lra Lia.
From Counterfair Require Import Finite.
Open Scope R_scope.

Definition dot (d : nat) (u v : nat -> R) : R := sum d (fun j => u j * v j).
Definition norm2 (d : nat) (v : nat -> R) : R := sqrt (dot d v v).

Lemma dot_self_nonneg d v : 0 <= dot d v v.
Proof. apply sum_nonneg. intros j. pose proof (Rle_0_sqr (v j)). unfold Rsqr in *. lra. Qed.

Lemma norm2_nonneg d v : 0 <= norm2 d v.
Proof. apply sqrt_pos. Qed.

Lemma norm2_sqr d v : norm2 d v * norm2 d v = dot d v v.
Proof. apply sqrt_sqrt, dot_self_nonneg. Qed.

Lemma cauchy_schwarz_sqr d u v : dot d u v * dot d u v <= dot d u u * dot d v v.
Proof.
  assert (inner : forall i, sum d (fun j => (u i * v j - u j * v i) * (u i * v j - u j * v i))
                  = u i * u i * dot d v v + (-2 * dot d u v) * (u i * v i) + dot d u u * (v i * v i)).
  { intros i. unfold dot.
    rewrite (sum_ext d _ (fun j => u i * u i * (v j * v j) + ((-2 * (u i * v i)) * (u j * v j) + v i * v i * (u j * u j))))
      by (intros j; ring).
    rewrite !sum_plus, !sum_scale. ring. }
  pose proof (sum_nonneg d (fun i => sum d (fun j => (u i * v j - u j * v i) * (u i * v j - u j * v i)))) as H.
  rewrite (sum_ext d _ _ inner) in H.
  rewrite (sum_ext d _ (fun i => dot d v v * (u i * u i) + ((-2 * dot d u v) * (u i * v i) + dot d u u * (v i * v i)))) in H
    by (intros i; ring).
  rewrite !sum_plus, !sum_scale in H. fold (dot d u u) (dot d u v) (dot d v v) in H.
  enough (0 <= dot d v v * dot d u u + ((-2 * dot d u v) * dot d u v + dot d u u * dot d v v)) by lra.
  apply H. intros i. apply sum_nonneg. intros j. apply Rle_0_sqr.
Qed.

(* label: lemma:P *)
Theorem cauchy_schwarz d u v : Rabs (dot d u v) <= norm2 d u * norm2 d v.
Proof.
  unfold norm2. rewrite <- sqrt_mult by apply dot_self_nonneg. rewrite <- sqrt_Rsqr_abs.
  apply sqrt_le_1_alt. apply cauchy_schwarz_sqr.
Qed.

(** Rows and columns exchanged: sum_i (phi_i . v) e_i = v . (sum_i phi_i e_i). *)
Definition column_sums (n : nat) (phi : nat -> nat -> R) (e : nat -> R) (j : nat) : R := sum n (fun i => phi i j * e i).

Lemma rows_to_columns n d phi e v :
  sum n (fun i => dot d (phi i) v * e i) = dot d v (column_sums n phi e).
Proof.
  unfold dot, column_sums.
  rewrite (sum_ext n _ (fun i => sum d (fun j => v j * (phi i j * e i)))).
  - rewrite sum_swap. apply sum_ext. intros j. apply sum_scale.
  - intros i. rewrite Rmult_comm, <- sum_scale. apply sum_ext. intros j. ring.
Qed.

Lemma dot_zero d u v : (forall j, (j < d)%nat -> v j = 0) -> dot d u v = 0.
Proof.
  intros H. unfold dot. induction d as [| d IH]; simpl; [reflexivity |].
  rewrite IH, H by (lia || (intros; apply H; lia)). ring.
Qed.

Lemma dot_minus_r d u v w : dot d u (fun j => v j - w j) = dot d u v - dot d u w.
Proof.
  unfold dot. rewrite (sum_ext d _ (fun j => u j * v j + (-1) * (u j * w j))) by (intros; ring).
  rewrite sum_plus, sum_scale. ring.
Qed.

Lemma dot_minus_l d u v w : dot d (fun j => u j - v j) w = dot d u w - dot d v w.
Proof.
  unfold dot. rewrite (sum_ext d _ (fun j => u j * w j + (-1) * (v j * w j))) by (intros; ring).
  rewrite sum_plus, sum_scale. ring.
Qed.

(** The residuals are orthogonal to every feature: D1 and D2 without inverses. *)
Definition normal_equations (n d : nat) (phi : nat -> nat -> R) (y w : nat -> R) : Prop :=
  forall j, (j < d)%nat -> column_sums n phi (fun i => y i - dot d (phi i) w) j = 0.

Section LemmaP.
  Variables (n d : nat) (phi phi_hat : nat -> nat -> R) (y y_hat w w_hat : nat -> R) (c : R).
  Hypothesis rows : (0 < n)%nat.
  Hypothesis c_pos : 0 < c.
  Hypothesis exact_fit : normal_equations n d phi y w.
  Hypothesis perturbed_fit : normal_equations n d phi_hat y_hat w_hat.

  (** The smallest eigenvalue of the perturbed Gram matrix is at least n c. *)
  Hypothesis coverage : forall v, INR n * c * dot d v v <= sum n (fun i => dot d (phi_hat i) v * dot d (phi_hat i) v).

  (** x: change of targets and features seen through w.  rho: residuals of the exact fit.  B: their meeting. *)
  Definition x_row (i : nat) : R := (y_hat i - y i) + dot d (fun j => phi i j - phi_hat i j) w.
  Definition rho_row (i : nat) : R := y i - dot d (phi i) w.
  Definition B_column : nat -> R := column_sums n (fun i j => phi_hat i j - phi i j) rho_row.

  Let v (j : nat) : R := w_hat j - w j.
  Let pv (i : nat) : R := dot d (phi_hat i) v.
  Let q : R := norm2 n pv.

  Lemma n_pos : 0 < INR n.
  Proof. apply lt_0_INR, rows. Qed.

  Lemma prediction_change_sqr : dot n pv pv = dot n pv x_row + dot d v B_column.
  Proof.
    assert (E1 : sum n (fun i => pv i * (y_hat i - dot d (phi_hat i) w_hat)) = 0).
    { unfold pv. rewrite rows_to_columns. apply dot_zero. exact perturbed_fit. }
    assert (E2 : sum n (fun i => dot d (phi i) v * rho_row i) = 0).
    { rewrite rows_to_columns. apply dot_zero. exact exact_fit. }
    assert (E3 : dot d v B_column = sum n (fun i => (pv i - dot d (phi i) v) * rho_row i)).
    { unfold B_column. rewrite <- rows_to_columns. apply sum_ext. intros i. rewrite dot_minus_l. reflexivity. }
    assert (E4 : dot n pv pv = sum n (fun i => pv i * x_row i + (pv i * rho_row i
                               + (-1) * (pv i * (y_hat i - dot d (phi_hat i) w_hat))))).
    { apply sum_ext. intros i. unfold x_row, rho_row. rewrite dot_minus_l. unfold pv at 2, v.
      rewrite dot_minus_r. ring. }
    assert (E5 : sum n (fun i => (pv i - dot d (phi i) v) * rho_row i)
                 = sum n (fun i => pv i * rho_row i) + (-1) * sum n (fun i => dot d (phi i) v * rho_row i)).
    { rewrite <- sum_scale, <- sum_plus. apply sum_ext. intros i. ring. }
    rewrite E4, !sum_plus, sum_scale, E1, E3, E5, E2. unfold dot. ring.
  Qed.

  Lemma change_by_predictions : norm2 d v <= q / sqrt (INR n * c).
  Proof.
    pose proof n_pos. assert (Hnc : 0 < INR n * c) by (apply Rmult_lt_0_compat; lra).
    pose proof (sqrt_lt_R0 _ Hnc) as Hs.
    apply Rmult_le_reg_r with (sqrt (INR n * c)); [exact Hs |].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    unfold norm2 at 1, q, norm2. rewrite <- sqrt_mult by (apply dot_self_nonneg || lra).
    apply sqrt_le_1_alt. rewrite Rmult_comm. apply coverage.
  Qed.

  (** ||w_hat - w|| <= ||x|| / sqrt(n c) + ||B|| / (n c). *)
  (* label: lemma:P *)
  Theorem perturbed_least_squares :
    norm2 d (fun j => w_hat j - w j) <= norm2 n x_row / sqrt (INR n * c) + norm2 d B_column / (INR n * c).
  Proof.
    fold v. pose proof n_pos. assert (Hnc : 0 < INR n * c) by (apply Rmult_lt_0_compat; lra).
    set (r := sqrt (INR n * c)). assert (Hr : 0 < r) by (apply sqrt_lt_R0; exact Hnc).
    assert (Hrr : r * r = INR n * c) by (apply sqrt_sqrt; lra).
    pose proof change_by_predictions as Hv. fold r in Hv.
    set (X := norm2 n x_row). set (B := norm2 d B_column).
    assert (HX : 0 <= X) by apply norm2_nonneg. assert (HB : 0 <= B) by apply norm2_nonneg.
    assert (Hq0 : 0 <= q) by apply norm2_nonneg.
    assert (Hq : q * q <= q * X + q / r * B).
    { unfold q at 1 2. rewrite norm2_sqr, prediction_change_sqr. fold q.
      pose proof (cauchy_schwarz n pv x_row) as C1. fold q X in C1.
      pose proof (cauchy_schwarz d v B_column) as C2. fold B in C2.
      pose proof (Rle_abs (dot n pv x_row)). pose proof (Rle_abs (dot d v B_column)).
      pose proof (Rmult_le_compat_r B _ _ HB Hv). lra. }
    assert (Hq1 : q <= X + B / r).
    { destruct (Req_dec q 0) as [-> | Hne].
      - assert (0 <= B / r) by (apply Rmult_le_pos; [exact HB | left; apply Rinv_0_lt_compat, Hr]). lra.
      - apply Rmult_le_reg_l with q; [lra |]. replace (q * (X + B / r)) with (q * X + q / r * B) by (unfold Rdiv; ring).
        exact Hq. }
    apply Rle_trans with (1 := Hv). rewrite <- Hrr.
    replace (X / r + B / (r * r)) with ((X + B / r) / r) by (field; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Hr | exact Hq1].
  Qed.

  (** ** In terms of uniform errors *)

  Variables (e_y e_phi : R).
  Hypothesis targets_close : forall i, Rabs (y_hat i - y i) <= e_y.
  Hypothesis features_close : forall i, norm2 d (fun j => phi_hat i j - phi i j) <= e_phi.

  Definition rms_residual : R := sqrt (dot n rho_row rho_row / INR n).

  Lemma norm2_uniform (u : nat -> R) (k : R) : 0 <= k -> (forall i, Rabs (u i) <= k) -> norm2 n u <= sqrt (INR n) * k.
  Proof.
    intros Hk Hu. unfold norm2. rewrite <- (sqrt_square k) by exact Hk. pose proof n_pos.
    rewrite <- sqrt_mult by (lra || apply Rle_0_sqr). apply sqrt_le_1_alt. unfold dot.
    rewrite <- sum_const. apply sum_le. intros i. apply Rsqr_le_abs_1. rewrite (Rabs_pos_eq k) by exact Hk. apply Hu.
  Qed.

  Lemma x_row_bound i : Rabs (x_row i) <= e_y + e_phi * norm2 d w.
  Proof.
    unfold x_row. apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat; [apply targets_close |].
    apply Rle_trans with (1 := cauchy_schwarz _ _ _). apply Rmult_le_compat_r; [apply norm2_nonneg |].
    apply Rle_trans with (2 := features_close i). right. unfold norm2. f_equal. unfold dot. apply sum_ext. intros j. ring.
  Qed.

  Lemma e_nonneg : 0 <= e_y /\ 0 <= e_phi.
  Proof.
    split; [apply Rle_trans with (2 := targets_close 0); apply Rabs_pos |].
    apply Rle_trans with (2 := features_close 0). apply norm2_nonneg.
  Qed.

  Lemma B_column_bound : norm2 d B_column <= e_phi * (INR n * rms_residual).
  Proof.
    set (B := norm2 d B_column). assert (HB : 0 <= B) by apply norm2_nonneg. destruct e_nonneg as [_ He].
    pose proof n_pos.
    assert (Hrho : 0 <= rms_residual) by apply sqrt_pos.
    assert (L : B * B <= B * (e_phi * (INR n * rms_residual))).
    { unfold B at 1 2. rewrite norm2_sqr. unfold B_column at 2. rewrite <- rows_to_columns.
      apply Rle_trans with (1 := Rle_abs _). apply Rle_trans with (1 := sum_abs _ _).
      apply Rle_trans with (B * e_phi * sum n (fun i => 1 * Rabs (rho_row i))).
      - rewrite <- sum_scale. apply sum_le. intros i. rewrite Rabs_mult, Rmult_1_l.
        apply Rmult_le_compat_r; [apply Rabs_pos |]. apply Rle_trans with (1 := cauchy_schwarz _ _ _). fold B.
        rewrite Rmult_comm. apply Rmult_le_compat_l; [exact HB | apply features_close].
      - rewrite Rmult_assoc. apply Rmult_le_compat_l; [exact HB |]. apply Rmult_le_compat_l; [exact He |].
        apply Rle_trans with (1 := Rle_abs _). fold (dot n (fun _ => 1) (fun i => Rabs (rho_row i))).
        apply Rle_trans with (1 := cauchy_schwarz _ _ _). right. unfold norm2, rms_residual, dot.
        rewrite (sum_ext n (fun j => Rabs (rho_row j) * Rabs (rho_row j)) (fun j => rho_row j * rho_row j))
          by (intros; rewrite <- Rabs_mult; apply Rabs_pos_eq, Rle_0_sqr).
        rewrite (sum_ext n (fun _ => 1 * 1) (fun _ => 1)) by (intros; ring). rewrite sum_const, Rmult_1_r.
        fold (dot n rho_row rho_row). unfold Rdiv.
        rewrite sqrt_mult by (apply dot_self_nonneg || (left; apply Rinv_0_lt_compat; lra)).
        rewrite <- (sqrt_sqrt (INR n)) at 2 by lra.
        pose proof (sqrt_lt_R0 (INR n) ltac:(lra)).
        rewrite sqrt_inv. field. lra. }
    destruct (Req_dec B 0) as [E | Hne].
    - rewrite E. apply Rmult_le_pos; [exact He | apply Rmult_le_pos; lra].
    - apply Rmult_le_reg_l with B; [lra | exact L].
  Qed.

  (** With e_y = eps_r + gamma L_f eps_s and e_phi = L2 eps_s this is the second line of Lemma P. *)
  (* label: lemma:P *)
  Theorem perturbed_least_squares_uniform :
    norm2 d (fun j => w_hat j - w j) <= (e_y + e_phi * norm2 d w) / sqrt c + e_phi * rms_residual / c.
  Proof.
    pose proof n_pos. destruct e_nonneg as [Hy Hphi].
    apply Rle_trans with (1 := perturbed_least_squares). apply Rplus_le_compat.
    - rewrite sqrt_mult by lra. pose proof (sqrt_lt_R0 c c_pos). pose proof (sqrt_lt_R0 (INR n) n_pos).
      apply Rle_trans with (sqrt (INR n) * (e_y + e_phi * norm2 d w) / (sqrt (INR n) * sqrt c)).
      + apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra |].
        apply norm2_uniform; [| apply x_row_bound].
        apply Rplus_le_le_0_compat; [exact Hy | apply Rmult_le_pos; [exact Hphi | apply norm2_nonneg]].
      + right. field. lra.
    - apply Rle_trans with (e_phi * (INR n * rms_residual) / (INR n * c)).
      + apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra | apply B_column_bound].
      + right. field. lra.
  Qed.

  (** What it does to predictions: |phi . (w_hat - w)| <= ||phi|| (the bound above).  The corrected D4. *)
  (* label: D4 *)
  Theorem perturbed_prediction (f : nat -> R) :
    Rabs (dot d f w_hat - dot d f w)
    <= norm2 d f * ((e_y + e_phi * norm2 d w) / sqrt c + e_phi * rms_residual / c).
  Proof.
    rewrite <- dot_minus_r. apply Rle_trans with (1 := cauchy_schwarz _ _ _).
    apply Rmult_le_compat_l; [apply norm2_nonneg | apply perturbed_least_squares_uniform].
  Qed.
End LemmaP.
