(** * Coverage of the Gram matrix: the printed probabilities are false

    D7: the event has the wrong sign.  One constant feature.
    X3: d exp(-n lambda_0 / 8) needs ||phi||_2 <= 1, not ||phi||_inf <= 1.  Hadamard rows.
    X4: N T tuples of N people are not N T independent tuples.  One person who never moves.
    All are about lambda_min(A) against n lambda_0 / 2, A the sum of the outer products of n rows of features. *)

From Coq Require Import List Reals Lra Lia ZArith.
From Counterfair Require Import Finite LemmaP.
Import ListNotations.
Open Scope R_scope.

(** ** Coverage *)

Section Coverage.
  Context {W : Type}.
  Variables (d : nat) (phi : W -> nat -> R).

  (** v' A v for the rows in a list. *)
  Definition quadratic (rows : list W) (v : nat -> R) : R :=
    fold_right (fun w total => dot d (phi w) v * dot d (phi w) v + total) 0 rows.

  (** lambda_min(A) < x *)
  Definition covers_less (x : R) (rows : list W) : Prop := exists v, dot d v v = 1 /\ quadratic rows v < x.

  (** lambda_0 is the smallest eigenvalue of E phi phi': a lower bound that is attained. *)
  Definition population_coverage (law : list (R * W)) (lambda_0 : R) : Prop :=
    (forall v, lambda_0 * dot d v v <= expect law (fun w => dot d (phi w) v * dot d (phi w) v))
    /\ exists v, dot d v v = 1 /\ expect law (fun w => dot d (phi w) v * dot d (phi w) v) = lambda_0.

  Lemma quadratic_zero rows v : (forall w, In w rows -> dot d (phi w) v = 0) -> quadratic rows v = 0.
  Proof.
    induction rows as [| w rows IH]; intros H; simpl; [reflexivity |].
    rewrite (H w (or_introl eq_refl)), IH by (intros; apply H; right; assumption). ring.
  Qed.
End Coverage.

Lemma dot_scale_r d u c v : dot d u (fun j => c * v j) = c * dot d u v.
Proof. unfold dot. rewrite <- sum_scale. apply sum_ext. intros j. ring. Qed.

Lemma dot_sym d u v : dot d u v = dot d v u.
Proof. unfold dot. apply sum_ext. intros j. ring. Qed.

(** D7 as printed: P(lambda_min(A) >= n lambda_0 / 2) <= d exp(-n lambda_0 / 8). *)
Definition D7_printed : Prop :=
  forall (W : Type) (d n : nat) (phi : W -> nat -> R) (law : list (R * W)) (lambda_0 : R),
    is_law law -> (forall w j, Rabs (phi w j) <= 1) -> population_coverage d phi law lambda_0 ->
    draws law n (fun rows => indicator (~ covers_less d phi (INR n * lambda_0 / 2) rows)) <= INR d * exp (- (INR n * lambda_0 / 8)).

(** One feature that is always 1, one row: A = 1 and lambda_0 = 1, so 1 > exp(-1/8). *)
(* label: D7 *)
Theorem D7_is_false : ~ D7_printed.
Proof.
  intros H. specialize (H unit 1%nat 1%nat (fun _ _ => 1) (surely tt) 1 (surely_is_law tt)).
  assert (L : draws (surely tt) 1 (fun rows => indicator (~ covers_less 1 (fun _ _ => 1) (INR 1 * 1 / 2) rows))
              <= INR 1 * exp (- (INR 1 * 1 / 8))).
  { apply H.
    - intros _ _. rewrite Rabs_R1. lra.
    - split.
      + intros v. rewrite expect_surely. unfold dot. simpl. lra.
      + exists (fun _ => 1). rewrite expect_surely. unfold dot. simpl. split; ring. }
  cbn [draws] in L. rewrite expect_surely, indicator_true in L.
  - pose proof (exp_increasing (- (INR 1 * 1 / 8)) 0 ltac:(simpl; lra)) as P. rewrite exp_0 in P. simpl in *. lra.
  - intros [v [Hv Hq]]. unfold quadratic, dot in *. simpl in *. lra.
Qed.

(** Draws take listed outcomes only. *)
Lemma draws_listed_le {W : Type} (l : list (R * W)) n : is_law l -> forall f g,
  (forall ws, length ws = n -> (forall w, In w ws -> exists p, In (p, w) l) -> f ws <= g ws) -> draws l n f <= draws l n g.
Proof.
  intros Hl. induction n as [| n IH]; intros f g H; simpl; [apply H; [reflexivity | intros w []] |].
  apply expect_le_listed; [apply Hl |]. intros p w Hw. apply IH. intros ws E Hin. apply H; [simpl; rewrite E; reflexivity |].
  intros w' [<- | Hw']; [exists p; exact Hw | apply Hin, Hw'].
Qed.

(** D7 with its sign repaired, for independent rows with entries of size at most 1. *)
Definition D7_with_its_sign : Prop :=
  forall (W : Type) (d n : nat) (phi : W -> nat -> R) (law : list (R * W)) (lambda_0 : R),
    is_law law -> (forall w j, Rabs (phi w j) <= 1) -> population_coverage d phi law lambda_0 ->
    draws law n (fun rows => indicator (covers_less d phi (INR n * lambda_0 / 2) rows)) <= INR d * exp (- (INR n * lambda_0 / 8)).

(** *** Hadamard rows: entry (i, j) is 1 or -1 by the parity of the bits that i and j share *)

Fixpoint shared_parity (fuel : nat) (i j : nat) : bool :=
  match fuel with
  | O => false
  | S fuel => xorb (andb (Nat.odd i) (Nat.odd j)) (shared_parity fuel (Nat.div2 i) (Nat.div2 j))
  end.

Definition hadamard_Z (i j : nat) : Z := if shared_parity 5 i j then (-1)%Z else 1%Z.
Definition hadamard (i j : nat) : R := IZR (hadamard_Z i j).

Fixpoint sum_Z (n : nat) (f : nat -> Z) : Z := match n with O => 0%Z | S m => (sum_Z m f + f m)%Z end.

Lemma sum_IZR n f : sum n (fun j => IZR (f j)) = IZR (sum_Z n f).
Proof. induction n as [| n IH]; simpl; [reflexivity |]. rewrite IH, plus_IZR. reflexivity. Qed.

Lemma hadamard_dot i k :
  (i < 32)%nat -> (k < 32)%nat -> dot 32 (hadamard i) (hadamard k) = if Nat.eqb i k then 32 else 0.
Proof.
  intros Hi Hk. unfold dot, hadamard.
  rewrite (sum_ext 32 _ (fun j => IZR (hadamard_Z i j * hadamard_Z k j))) by (intros; rewrite mult_IZR; reflexivity).
  rewrite sum_IZR.
  assert (check : forallb (fun i => forallb (fun k =>
            Z.eqb (sum_Z 32 (fun j => (hadamard_Z i j * hadamard_Z k j)%Z)) (if Nat.eqb i k then 32 else 0)%Z)
            (seq 0 32)) (seq 0 32) = true) by (vm_compute; reflexivity).
  rewrite forallb_forall in check. specialize (check i ltac:(apply in_seq; lia)).
  rewrite forallb_forall in check. specialize (check k ltac:(apply in_seq; lia)).
  apply Z.eqb_eq in check. rewrite check. destruct (Nat.eqb i k); reflexivity.
Qed.

Lemma hadamard_size i j : Rabs (hadamard i j) <= 1.
Proof. unfold hadamard, hadamard_Z. destruct (shared_parity 5 i j); apply Rabs_le; lra. Qed.

(** Rows drawn uniformly from the 32. *)
Definition uniform (n : nat) : list (R * nat) := map (fun i => (/ INR n, i)) (seq 0 n).

Lemma uniform_expect n f : expect (uniform n) f = / INR n * sum n f.
Proof.
  unfold uniform. assert (H : forall c m k, expect (map (fun i => (c, i)) (seq k m)) f = c * sum m (fun i => f (k + i)%nat)).
  { intros c m. induction m as [| m IH]; intros k; [simpl; ring |].
    cbn [seq map expect]. rewrite IH, sum_first, Nat.add_0_r.
    rewrite (sum_ext m (fun i => f (S k + i)%nat) (fun i => f (k + S i)%nat)) by (intros; f_equal; lia). ring. }
  rewrite H. reflexivity.
Qed.

Lemma uniform_is_law n : (0 < n)%nat -> is_law (uniform n).
Proof.
  intros Hn. pose proof (lt_0_INR n Hn). split.
  - unfold weights_nonneg, uniform. apply Forall_forall. intros pw H'. apply in_map_iff in H' as [i [<- _]]. simpl.
    left. apply Rinv_0_lt_compat. exact H.
  - rewrite uniform_expect, sum_const. field. lra.
Qed.

(** The columns are orthogonal too (the matrix is symmetric), so that E (phi . v)^2 = |v|^2 and lambda_0 = 1. *)
Lemma hadamard_symmetric i j : (i < 32)%nat -> (j < 32)%nat -> hadamard i j = hadamard j i.
Proof.
  intros Hi Hj. unfold hadamard. f_equal.
  assert (check : forallb (fun i => forallb (fun j => Z.eqb (hadamard_Z i j) (hadamard_Z j i)) (seq 0 32)) (seq 0 32) = true)
    by (vm_compute; reflexivity).
  rewrite forallb_forall in check. specialize (check i ltac:(apply in_seq; lia)).
  rewrite forallb_forall in check. specialize (check j ltac:(apply in_seq; lia)). apply Z.eqb_eq, check.
Qed.

Lemma sum_ext_below n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [| n IH]; intros H; simpl; [reflexivity |].
  rewrite IH, H by (lia || (intros; apply H; lia)). reflexivity.
Qed.

Lemma sum_pick n j (c : R) : (j < n)%nat -> sum n (fun k => if Nat.eqb j k then c else 0) = c.
Proof.
  induction n as [| n IH]; intros H; [lia |]. simpl. destruct (Nat.eqb_spec j n) as [-> | Hne].
  - rewrite (sum_ext_below n _ (fun _ => 0)), sum_const by (intros k Hk; destruct (Nat.eqb_spec n k); [lia | reflexivity]). ring.
  - rewrite IH by lia. ring.
Qed.

Lemma hadamard_isometry v : sum 32 (fun i => dot 32 (hadamard i) v * dot 32 (hadamard i) v) = 32 * dot 32 v v.
Proof.
  rewrite (sum_ext 32 _ (fun i => sum 32 (fun j => hadamard i j * v j * dot 32 (hadamard i) v))).
  2: { intros i. unfold dot at 1. rewrite Rmult_comm, <- sum_scale. apply sum_ext. intros j. ring. }
  rewrite sum_swap.
  rewrite (sum_ext_below 32 _ (fun j => 32 * (v j * v j))); [rewrite sum_scale; reflexivity |]. intros j Hj.
  rewrite (sum_ext 32 _ (fun i => v j * sum 32 (fun k => hadamard i j * hadamard i k * v k))).
  2: { intros i. rewrite (sum_ext 32 (fun k => hadamard i j * hadamard i k * v k) (fun k => hadamard i j * (hadamard i k * v k)))
         by (intros; ring).
       rewrite sum_scale. unfold dot. ring. }
  rewrite sum_scale, sum_swap.
  rewrite (sum_ext_below 32 _ (fun k => if Nat.eqb j k then 32 * v j else 0)).
  - rewrite sum_pick by exact Hj. ring.
  - intros k Hk.
    rewrite (sum_ext_below 32 _ (fun i => v k * (hadamard j i * hadamard k i))).
    + rewrite sum_scale. fold (dot 32 (hadamard j) (hadamard k)). rewrite hadamard_dot by assumption.
      destruct (Nat.eqb_spec j k) as [-> | _]; ring.
    + intros i Hi. rewrite (hadamard_symmetric i j Hi Hj), (hadamard_symmetric i k Hi Hk). ring.
Qed.

Lemma hadamard_coverage : population_coverage 32 hadamard (uniform 32) 1.
Proof.
  assert (E : forall v, expect (uniform 32) (fun i => dot 32 (hadamard i) v * dot 32 (hadamard i) v) = dot 32 v v).
  { intros v. rewrite uniform_expect, hadamard_isometry. replace (INR 32) with 32 by (simpl; ring). field. }
  split; [intros v; rewrite E; lra |].
  exists (fun j => if Nat.eqb 0 j then 1 else 0). rewrite E. unfold dot.
  rewrite (sum_ext 32 _ (fun k => if Nat.eqb 0 k then 1 else 0)) by (intros k; destruct (Nat.eqb 0 k); ring).
  split; apply sum_pick; lia.
Qed.

(** Of 32 rows, 31 draws miss one; the row that is missed is orthogonal to all others. *)
Lemma one_row_is_missed rows : length rows = 31%nat -> exists i, (i < 32)%nat /\ ~ In i rows.
Proof.
  intros H. destruct (Classical_Prop.classic (exists i, (i < 32)%nat /\ ~ In i rows)) as [E | E]; [exact E | exfalso].
  assert (incl (seq 0 32) rows).
  { intros i Hi. apply in_seq in Hi. apply Classical_Prop.NNPP. intros Hn. apply E. exists i. split; [lia | exact Hn]. }
  pose proof (NoDup_incl_length (seq_NoDup 32 0) H0). rewrite seq_length in *. lia.
Qed.

Lemma exp_31_8 : 32 * exp (- (31 * 1 / 8)) < 1.
Proof.
  assert (H : 32 < exp (31 / 8)).
  { replace (31 / 8) with (INR 20 * (31 / 160)) by (simpl; lra).
    assert (P : exp (INR 20 * (31/160)) = exp (31/160) ^ 20).
    { generalize 20%nat. intros m. induction m as [| m IH]; [simpl; rewrite Rmult_0_l; apply exp_0 |].
      rewrite S_INR. cbn [pow]. rewrite <- IH, <- exp_plus. f_equal. ring. }
    rewrite P. apply Rlt_le_trans with ((191/160) ^ 20); [simpl; lra |].
    apply pow_incr. split; [lra |]. pose proof (exp_ineq1 (31/160) ltac:(lra)). lra. }
  replace (- (31 * 1 / 8)) with (- (31 / 8)) by field. rewrite exp_Ropp.
  apply Rmult_lt_reg_r with (exp (31/8)); [apply exp_pos |]. rewrite Rmult_assoc, Rinv_l; [lra |].
  pose proof (exp_pos (31/8)). lra.
Qed.

(** 31 Hadamard rows in dimension 32, lambda_0 = 1: lambda_min = 0 surely, so 1 > 32 exp(-31/8) = 0.664. *)
(* label: D7 *)
(* label: X3 *)
Theorem hadamard_rows_refute_D7 : ~ D7_with_its_sign.
Proof.
  intros H. specialize (H nat 32%nat 31%nat hadamard (uniform 32) 1 (uniform_is_law 32 ltac:(lia)) hadamard_size hadamard_coverage).
  assert (E : 1 <= draws (uniform 32) 31 (fun rows => indicator (covers_less 32 hadamard (INR 31 * 1 / 2) rows))).
  { rewrite <- (draws_const (uniform 32) 31 1 (uniform_is_law 32 ltac:(lia))) at 1. apply draws_listed_le.
    - apply uniform_is_law. lia.
    - intros rows Hlen Hin. rewrite indicator_true; [lra |].
      destruct (one_row_is_missed rows Hlen) as [i [Hi Hmiss]].
      assert (S32 : sqrt 32 * sqrt 32 = 32) by (apply sqrt_sqrt; lra).
      assert (P32 : 0 < sqrt 32) by (apply sqrt_lt_R0; lra).
      exists (fun j => / sqrt 32 * hadamard i j). split.
      + rewrite dot_scale_r, dot_sym, dot_scale_r, hadamard_dot, Nat.eqb_refl by assumption.
        rewrite <- S32 at 3. field. lra.
      + rewrite quadratic_zero; [simpl; lra |]. intros k Hk. rewrite dot_scale_r, hadamard_dot; [| | exact Hi].
        * destruct (Nat.eqb_spec k i) as [-> | _]; [contradiction | ring].
        * specialize (Hin k Hk) as [p Hp]. apply in_map_iff in Hp as [k' [E Hk']]. injection E as _ <-.
          apply in_seq in Hk'. lia. }
  pose proof exp_31_8. replace (INR 32) with 32 in H by (simpl; ring). replace (INR 31) with 31 in H, E by (simpl; ring). lra.
Qed.

(** ** X4: dependent rows

    One person (N = 1) stands on one of two one-hot states for ever, for T = 1000 steps: A has rank one.  lambda_0 = 1/2, and the
    printed probability of failure is 2 exp(-1000/16), below 1/2. *)
Definition D7_for_trajectories : Prop :=
  forall (W : Type) (d T : nat) (phi : W -> nat -> R) (start : list (R * W)) (moves : nat -> W -> W) (lambda_0 : R),
    is_law start -> (forall w j, Rabs (phi w j) <= 1) ->
    (forall t, (t < T)%nat -> population_coverage d (fun w => phi (moves t w)) start lambda_0) ->
    expect start (fun w => indicator (covers_less d phi (INR T * lambda_0 / 2) (map (fun t => moves t w) (seq 0 T))))
    <= INR d * exp (- (INR T * lambda_0 / 8)).

Definition one_hot (w j : nat) : R := if Nat.eqb w j then 1 else 0.

Lemma dot2_one_hot w v : (w < 2)%nat -> dot 2 (one_hot w) v = v w.
Proof. intros H. unfold dot, one_hot. destruct w as [| [| w]]; [simpl; ring | simpl; ring | lia]. Qed.

(* label: X4 *)
Theorem a_frozen_chain_refutes_independence : ~ D7_for_trajectories.
Proof.
  intros H. specialize (H nat 2%nat 1000%nat one_hot (uniform 2) (fun _ w => w) (1/2) (uniform_is_law 2 ltac:(lia))).
  assert (E : 1 <= expect (uniform 2) (fun w => indicator
                (covers_less 2 one_hot (INR 1000 * (1/2) / 2) (map (fun _ => w) (seq 0 1000))))).
  { rewrite <- (expect_const (uniform 2) 1 (uniform_is_law 2 ltac:(lia))) at 1.
    apply expect_le_listed; [apply uniform_is_law; lia |]. intros p w Hw. rewrite indicator_true; [lra |].
    apply in_map_iff in Hw as [w' [E Hw]]. injection E as _ <-. apply in_seq in Hw.
    exists (one_hot (1 - w')). split.
    - rewrite dot2_one_hot by lia. unfold one_hot. rewrite Nat.eqb_refl. reflexivity.
    - rewrite quadratic_zero.
      + pose proof (lt_0_INR 1000 ltac:(lia)). lra.
      + intros k Hk. apply in_map_iff in Hk as [_ [<- _]]. rewrite dot2_one_hot by lia.
        unfold one_hot. destruct (Nat.eqb_spec (1 - w') w'); [lia | reflexivity]. }
  assert (L : expect (uniform 2) (fun w => indicator
                (covers_less 2 one_hot (INR 1000 * (1/2) / 2) (map (fun _ => w) (seq 0 1000))))
              <= INR 2 * exp (- (INR 1000 * (1/2) / 8))).
  { apply H.
    - intros w j. unfold one_hot. destruct (Nat.eqb w j); apply Rabs_le; lra.
    - intros _ _.
      assert (C : forall v, expect (uniform 2) (fun w => dot 2 (one_hot w) v * dot 2 (one_hot w) v) = 1/2 * dot 2 v v).
      { intros v. rewrite uniform_expect. unfold dot, one_hot. simpl. field. }
      split; [intros v; rewrite C; lra |]. exists (one_hot 0). rewrite C, dot2_one_hot by lia. simpl. split; unfold one_hot; simpl; lra. }
  assert (P : exp (- (INR 1000 * (1/2) / 8)) < / 4).
  { rewrite exp_Ropp. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; [lra | apply exp_pos] |].
    assert (16 <= INR 1000) by (replace 16 with (INR 16) by (simpl; ring); apply le_INR; lia).
    assert (INR 1000 = 1000) by (rewrite INR_IZR_INZ; reflexivity).
    pose proof (exp_ineq1 (INR 1000 * (1/2) / 8) ltac:(lra)). lra. }
  replace (INR 2) with 2 in L by (simpl; ring). lra.
Qed.
