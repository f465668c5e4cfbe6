(** * How far alg:cf:1 strays when the means are wrong

    States live in any abelian group with a size ||.||; rewards are real.  The estimated means are within e0, e, e_r of the
    true ones *at the points where the algorithm evaluates them*, and the true means are Lipschitz with constants l and l_r.
    After t steps

      ||s_hat - s|| <= 2 e (1 + l + ... + l^(t-1)) + l^t 2 e0,     |r_hat - r| <= 2 e_r + l_r (the same at its time). *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import Model Algorithm1 Finite.
Import ListNotations.
Open Scope R_scope.

Definition real_line : abelian_group := {|
  carrier := R; zero := 0; plus := Rplus; opp := Ropp;
  plus_assoc := fun x y z => eq_sym (Rplus_assoc x y z); plus_comm := Rplus_comm;
  plus_zero := Rplus_0_r; plus_opp := Rplus_opp_r
|}.

Local Arguments carrier : simpl never.

Record size_on (G : abelian_group) : Type := {
  size :> G -> R;
  size_triangle : forall x y, size (x + y)%G <= size x + size y;
  size_opp : forall x, size (- x)%G = size x
}.

Definition absolute_value : size_on real_line := {|
  size := Rabs : real_line -> R; size_triangle := Rabs_triang; size_opp := Rabs_Ropp
|}.

Section GroupIdentities.
  Context {G : abelian_group}.

  Lemma opp_unique (x y : G) : (x + y = zero)%G -> (y = - x)%G.
  Proof.
    intros H. rewrite <- (plus_zero _ y), <- (plus_opp _ x), (plus_assoc _ y), (plus_comm _ y), H, plus_comm, plus_zero.
    reflexivity.
  Qed.

  Lemma opp_plus (x y : G) : (- (x + y) = - x + - y)%G.
  Proof.
    symmetry. apply opp_unique. rewrite plus_assoc, <- (plus_assoc _ x y), (plus_comm _ y), plus_assoc, plus_opp.
    rewrite <- plus_assoc, (plus_comm _ zero), plus_zero, plus_opp. reflexivity.
  Qed.

  Lemma minus_chain (x y z : G) : ((x - y) + (y - z) = x - z)%G.
  Proof. rewrite plus_assoc, minus_plus. reflexivity. Qed.

  Lemma minus_common (x y u : G) : ((x + u) - (y + u) = x - y)%G.
  Proof.
    rewrite opp_plus, (plus_comm _ (- y)%G), plus_assoc, <- (plus_assoc _ x u), plus_opp, plus_zero. reflexivity.
  Qed.

  Lemma plus_swap (x u y : G) : (x + u + y = x + y + u)%G.
  Proof. rewrite <- plus_assoc, (plus_comm _ u), plus_assoc. reflexivity. Qed.

  (** Estimate minus truth splits into two errors of the means and the error carried from the step before. *)
  Lemma error_split (m m' n n' n'' u : G) :
    ((m + u - m' + n') - (n + u) = (m - m') + ((n' - n'') + (n'' - n)))%G.
  Proof. rewrite (plus_swap m u), (plus_swap _ u n'), minus_common, minus_chain, <- plus_assoc. reflexivity. Qed.

  Lemma size_minus_sym (norm : size_on G) (x y : G) : norm (x - y)%G = norm (y - x)%G.
  Proof.
    rewrite <- (size_opp _ norm (x - y)%G). f_equal. symmetry. apply opp_unique.
    rewrite minus_chain, plus_opp. reflexivity.
  Qed.

  Lemma error_split_size (norm : size_on G) (m m' n n' n'' u : G) :
    norm ((m + u - m' + n') - (n + u))%G <= norm (m' - m)%G + (norm (n' - n'')%G + norm (n'' - n)%G).
  Proof.
    rewrite (error_split m m' n n' n'' u), (size_minus_sym norm m').
    apply Rle_trans with (1 := size_triangle _ norm _ _). apply Rplus_le_compat_l, size_triangle.
  Qed.

  Lemma first_error_size (norm : size_on G) (m m' n n' u : G) :
    norm ((m + u - m' + n') - (n + u))%G <= norm (m' - m)%G + norm (n' - n)%G.
  Proof.
    rewrite (plus_swap m u), (plus_swap _ u n'), minus_common, (size_minus_sym norm m'), <- plus_assoc.
    apply size_triangle.
  Qed.
End GroupIdentities.

(** t - 1 in the paper's count: the number of steps taken since the first state. *)
Fixpoint steps {S A R : Type} (h : trajectory S A R) : nat :=
  match h with
  | start _ => O
  | step past _ _ _ => Datatypes.S (steps past)
  end.

(** R_(t-1), where there is one. *)
Definition newest_reward {S A : Type} (h : trajectory S A real_line) : R :=
  match h with
  | start _ => 0
  | step _ _ r _ => r
  end.

Section Perturbation.
  Context {Z A : Type} {S : abelian_group}.
  Variables (norm : size_on S) (mu mu_hat : means Z A S real_line) (e0 e e_r l l_r : R).
  Hypothesis state_lipschitz :
    forall s s' a z, norm (state_mean mu s a z - state_mean mu s' a z)%G <= l * norm (s - s')%G.
  Hypothesis reward_lipschitz :
    forall s s' a z, Rabs (reward_mean mu s a z - reward_mean mu s' a z) <= l_r * norm (s - s')%G.
  Hypothesis l_nonneg : 0 <= l.
  Hypothesis l_r_nonneg : 0 <= l_r.

  Definition state_bound (t : nat) : R := 2 * e * sum t (fun j => l ^ j) + l ^ t * (2 * e0).

  Lemma state_bound_step t : l * state_bound t + 2 * e = state_bound (Datatypes.S t).
  Proof. unfold state_bound. rewrite sum_first, geometric_shift. simpl. ring. Qed.

  (** The person is at level z; k is any level; w is the noise with the actions taken. *)
  Variables (z k : Z).
  Let truth (w : trajectory S A real_line) := simulate (additive mu) k w.
  Let estimate (w : trajectory S A real_line) := estimated_world mu_hat z k (simulate (additive mu) z w).

  (** The means are evaluated at the person's own states at level z, and at the estimated states at level k. *)
  Fixpoint states_within (w : trajectory S A real_line) : Prop :=
    match w with
    | start _ =>
        norm (initial_mean mu_hat z - initial_mean mu z)%G <= e0 /\ norm (initial_mean mu_hat k - initial_mean mu k)%G <= e0
    | step past a _ _ =>
        states_within past
        /\ (let s := current (simulate (additive mu) z past) in
            norm (state_mean mu_hat s a z - state_mean mu s a z)%G <= e)
        /\ (let s := current (estimate past) in norm (state_mean mu_hat s a k - state_mean mu s a k)%G <= e)
    end.

  (** The same for the newest reward. *)
  Definition reward_within (w : trajectory S A real_line) : Prop :=
    match w with
    | start _ => True
    | step past a _ _ =>
        (let s := current (simulate (additive mu) z past) in Rabs (reward_mean mu_hat s a z - reward_mean mu s a z) <= e_r)
        /\ (let s := current (estimate past) in Rabs (reward_mean mu_hat s a k - reward_mean mu s a k) <= e_r)
    end.

  (** Theorem 6: errors are bounded along the path, not everywhere. *)
  (* label: alg:cf:1 *)
  Theorem counterfactual_state_error (w : trajectory S A real_line) :
    states_within w -> norm (current (estimate w) - current (truth w))%G <= state_bound (steps w).
  Proof.
    unfold estimate, truth. induction w as [u | past IH a ur us]; simpl.
    - intros [Hz Hk]. apply Rle_trans with (1 := first_error_size norm _ _ _ _ _). unfold state_bound; simpl. lra.
    - intros [Hpast [Hz Hk]]. specialize (IH Hpast). rewrite <- state_bound_step.
      apply Rle_trans with (e + (e + l * state_bound (steps past))); [| lra].
      eapply Rle_trans; [refine (error_split_size norm _ _ _ _ (state_mean mu (current (estimate past)) a k) _) |].
      apply Rplus_le_compat; [exact Hz |]. apply Rplus_le_compat; [exact Hk |].
      eapply Rle_trans; [apply state_lipschitz |]. apply Rmult_le_compat_l; [exact l_nonneg | exact IH].
  Qed.

  (* label: alg:cf:1 *)
  Theorem counterfactual_reward_error (w : trajectory S A real_line) (t : nat) :
    steps w = Datatypes.S t -> states_within w -> reward_within w ->
    Rabs (newest_reward (estimate w) - newest_reward (truth w)) <= 2 * e_r + l_r * state_bound t.
  Proof.
    destruct w as [u | past a ur us]; [discriminate |]. intros E [Hpast _] [Hz Hk]. injection E as E.
    pose proof (counterfactual_state_error past Hpast) as Hs. rewrite E in Hs. unfold estimate, truth in *. simpl.
    apply Rle_trans with (e_r + (e_r + l_r * state_bound t)); [| lra].
    eapply Rle_trans;
      [refine (error_split_size absolute_value _ _ _ _ (reward_mean mu (current (estimate past)) a k) _) |].
    apply Rplus_le_compat; [exact Hz |]. apply Rplus_le_compat; [exact Hk |].
    eapply Rle_trans; [apply reward_lipschitz |]. apply Rmult_le_compat_l; [exact l_r_nonneg | exact Hs].
  Qed.

  (** Means that are close everywhere are close along every path. *)
  Lemma close_everywhere_is_close_along w :
    (forall z, norm (initial_mean mu_hat z - initial_mean mu z)%G <= e0) ->
    (forall s a z, norm (state_mean mu_hat s a z - state_mean mu s a z)%G <= e) -> states_within w.
  Proof. intros H0 H. induction w as [u | past IH a ur us]; simpl; auto. Qed.
End Perturbation.

(** Where the true means contract (l < 1) the bound does not grow with t. *)
Lemma state_bound_uniform (e0 e l : R) (t : nat) :
  0 <= e0 -> 0 <= e -> 0 <= l < 1 -> state_bound e0 e l t <= 2 * e / (1 - l) + 2 * e0.
Proof.
  intros H0 He Hl. unfold state_bound.
  pose proof (Rmult_le_compat_l (2 * e) _ _ ltac:(lra) (geometric_le l t Hl)).
  assert (l ^ t <= 1) by (rewrite <- (pow1 t); apply pow_incr; lra).
  pose proof (Rmult_le_compat_r (2 * e0) _ _ ltac:(lra) H1). unfold Rdiv. lra.
Qed.

(** Weights P(Z = z(k)) estimated too: line 9 adds R_max times the distance of the weights. *)
Section WeightedReward.
  Context {Z : Type}.
  Variables (levels : list Z) (p p_hat r r_hat : Z -> R) (eps R_max : R).
  Hypothesis p_hat_nonneg : forall k, 0 <= p_hat k.
  Hypothesis rewards_close : forall k, Rabs (r_hat k - r k) <= eps.
  Hypothesis rewards_bounded : forall k, Rabs (r k) <= R_max.

  Let total (f : Z -> R) : R := fold_right (fun k t => f k + t) 0 levels.
  Let reward_of (p r : Z -> R) : R := weighted (R := real_line) Rmult (map p levels) (map r levels).

  (* label: alg:cf:1 *)
  Theorem weighted_reward_error :
    total p_hat = 1 ->
    Rabs (reward_of p_hat r_hat - reward_of p r) <= eps + R_max * total (fun k => Rabs (p_hat k - p k)).
  Proof.
    intros H1. rewrite <- (Rmult_1_r eps), <- H1. clear H1. unfold reward_of, total, weighted. clear reward_of total.
    induction levels as [| k ks IH]; simpl.
    - rewrite Rminus_0_r, Rabs_R0. lra.
    - change (carrier real_line) with R in *. simpl in IH. revert IH.
      match goal with |- Rabs (?x - ?y) <= _ -> _ => generalize x y end. intros rest_hat rest IH.
      replace (p_hat k * r_hat k + rest_hat - (p k * r k + rest))
        with ((p_hat k * (r_hat k - r k) + (p_hat k - p k) * r k) + (rest_hat - rest)) by ring.
      apply Rle_trans with (1 := Rabs_triang _ _).
      assert (Rabs (p_hat k * (r_hat k - r k) + (p_hat k - p k) * r k)
              <= eps * p_hat k + R_max * Rabs (p_hat k - p k)); [| lra].
      apply Rle_trans with (1 := Rabs_triang _ _). rewrite !Rabs_mult, (Rabs_pos_eq (p_hat k)) by apply p_hat_nonneg.
      pose proof (Rmult_le_compat_l _ _ _ (p_hat_nonneg k) (rewards_close k)).
      pose proof (Rmult_le_compat_l _ _ _ (Rabs_pos (p_hat k - p k)) (rewards_bounded k)). lra.
  Qed.
End WeightedReward.

(** ** The bounds are attained

    Two levels on the real line; the estimate errs upwards at one level and downwards at the other. *)

Section Attained.
  Variables (e0 e e_r l l_r : R).
  Hypothesis nonneg : 0 <= e0 /\ 0 <= e /\ 0 <= e_r /\ 0 <= l /\ 0 <= l_r.

  Let sign (z : bool) : R := if z then 1 else -1.

  Definition true_line : means bool unit real_line real_line := {|
    initial_mean _ := 0 : real_line; state_mean s _ _ := (l * s : real_line); reward_mean s _ _ := (l_r * s : real_line)
  |}.
  Definition wrong_line : means bool unit real_line real_line := {|
    initial_mean z := (sign z * e0 : real_line); state_mean s _ z := (l * s + sign z * e : real_line);
    reward_mean s _ z := (l_r * s + sign z * e_r : real_line)
  |}.

  (** The pair meets every assumption of the bounds ... *)
  Lemma attaining_pair_is_admissible :
    (forall z, Rabs (initial_mean wrong_line z - initial_mean true_line z) <= e0)
    /\ (forall s a z, Rabs (state_mean wrong_line s a z - state_mean true_line s a z) <= e)
    /\ (forall s a z, Rabs (reward_mean wrong_line s a z - reward_mean true_line s a z) <= e_r)
    /\ (forall s s' a z, Rabs (state_mean true_line s a z - state_mean true_line s' a z) <= l * Rabs (s - s'))
    /\ (forall s s' a z, Rabs (reward_mean true_line s a z - reward_mean true_line s' a z) <= l_r * Rabs (s - s')).
  Proof.
    repeat split; intros; simpl.
    1-3: unfold sign; destruct z; apply Rabs_le; lra.
    - rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq l) by lra. lra.
    - rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq l_r) by lra. lra.
  Qed.

  Let estimate (w : trajectory real_line unit real_line) :=
    estimated_world wrong_line false true (simulate (additive true_line) false w).
  Let truth (w : trajectory real_line unit real_line) := simulate (additive true_line) true w.

  Lemma true_line_ignores_levels (w : trajectory real_line unit real_line) :
    simulate (additive true_line) false w = truth w.
  Proof. unfold truth. induction w as [u | past IH [] ur us]; simpl; [| rewrite IH]; reflexivity. Qed.

  (** ... and meets the bounds with equality, at every t and for every noise. *)
  (* label: alg:cf:1 *)
  Theorem state_bound_is_attained (w : trajectory real_line unit real_line) :
    current (estimate w) - current (truth w) = state_bound e0 e l (steps w).
  Proof.
    unfold estimate. induction w as [u | past IH [] ur us].
    - unfold state_bound, sign; simpl. ring.
    - cbn [steps]. rewrite <- state_bound_step, <- IH. unfold sign; simpl.
      rewrite true_line_ignores_levels. fold (truth past). ring.
  Qed.

  (* label: alg:cf:1 *)
  Theorem reward_bound_is_attained (w : trajectory real_line unit real_line) (t : nat) :
    steps w = Datatypes.S t ->
    newest_reward (estimate w) - newest_reward (truth w) = 2 * e_r + l_r * state_bound e0 e l t.
  Proof.
    destruct w as [u | past [] ur us]; [discriminate |]. intros E. injection E as <-.
    rewrite <- (state_bound_is_attained past). unfold estimate, sign; simpl.
    rewrite true_line_ignores_levels. fold (truth past). ring.
  Qed.
End Attained.

(** ** With wrong means the family is no longer the same in all worlds

    M-FLAP: one step on the real line; the two levels have means 0 and 1, estimated as 0 and 2.  Seen from the two worlds of
    one person (noise 0), the preprocessed pairs are (0, 2) and (-1, 1). *)
Definition flap_true : means bool unit real_line real_line := {|
  initial_mean (z : bool) := ((if z then 1 else 0) : real_line); state_mean s _ _ := (0 * s : real_line); reward_mean s _ _ := (0 * s : real_line)
|}.
Definition flap_wrong : means bool unit real_line real_line := {|
  initial_mean (z : bool) := ((if z then 2 else 0) : real_line); state_mean s _ _ := (0 * s : real_line); reward_mean s _ _ := (0 * s : real_line)
|}.

(* label: M-FLAP *)
Theorem wrong_means_break_invariance :
  ~ (forall (mu mu_hat : means bool unit real_line real_line) (w : trajectory real_line unit real_line),
       algorithm1 [false; true] mu_hat false (simulate (additive mu) false w)
       = algorithm1 [false; true] mu_hat true (simulate (additive mu) true w)).
Proof.
  intros H. specialize (H flap_true flap_wrong (start (0 : real_line))). simpl in H.
  injection H as H _. lra.
Qed.
