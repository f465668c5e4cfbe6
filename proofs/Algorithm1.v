(** * alg:cf:1, sequential preprocessing with additive noise, over any abelian group

    States and rewards may be numbers, vectors, residues: only addition and subtraction are used.  u -> mu + u is a bijection
    with inverse s -> s - mu, so that everything here is a corollary of [Bijections]. *)

From Coq Require Import List.
From Counterfair Require Import Model Bijections.
Import ListNotations.
Open Scope group_scope.

Section AbelianGroup.
  Context {G : abelian_group}.

  Lemma minus_plus (x y : G) : x - y + y = x.
  Proof. rewrite <- plus_assoc, (plus_comm _ (- y)), plus_opp, plus_zero. reflexivity. Qed.

  Lemma plus_minus (x y : G) : x + y - x = y.
  Proof. rewrite (plus_comm _ x y), <- plus_assoc, plus_opp, plus_zero. reflexivity. Qed.
End AbelianGroup.

Section Algorithm1.
  Context {Z A : Type} {S R : abelian_group}.

  (** m(z) = E(S_1 | Z = z), and the two blocks of mu(s, a, z): the mean next state and the mean reward. *)
  Record means : Type := {
    initial_mean : Z -> S;
    state_mean   : S -> A -> Z -> S;
    reward_mean  : S -> A -> Z -> R
  }.

  (** asm:additive.  S_1 = m(Z) + U_1,  R_t = mu_r(S_t, A_t, Z) + UR_t,  S_(t+1) = mu_s(S_t, A_t, Z) + U_(t+1). *)
  Definition additive (mu : means) : structural_model Z S A R S R := {|
    first_state z u := initial_mean mu z + u;
    reward z h a u := reward_mean mu (current h) a z + u;
    next_state z h a _ u := state_mean mu (current h) a z + u
  |}.

  (** The noise behind an observed history of a person at level z. *)
  Fixpoint residuals (mu : means) (z : Z) (h : trajectory S A R) : trajectory S A R :=
    match h with
    | start s => start (s - initial_mean mu z)
    | step past a r s =>
        step (residuals mu z past) a
             (r - reward_mean mu (current past) a z)
             (s - state_mean mu (current past) a z)
    end.

  Definition abduct (mu : means) (h : history Z S A R) : trajectory S A R := residuals mu (fst h) (snd h).

  Variable levels : list Z.

  (** alg:cf:1 for one person at level z.  Lines 4 and 5 are the first case, lines 7 and 8 the second; [combine] pairs
      each level k with the estimate of S^k_(t-1) carried from the step before. *)
  Fixpoint algorithm1 (mu : means) (z : Z) (h : trajectory S A R) : trajectory (list S) A (list R) :=
    match h with
    | start s => start (map (fun k => s - initial_mean mu z + initial_mean mu k) levels)
    | step past a r s =>
        let before := algorithm1 mu z past in
        let worlds := combine levels (current before) in
        step before a
             (map (fun '(k, sk) => r - reward_mean mu (current past) a z + reward_mean mu sk a k) worlds)
             (map (fun '(k, sk) => s - state_mean mu (current past) a z + state_mean mu sk a k) worlds)
    end.

  (** The same recursion followed in the single world k. *)
  Fixpoint estimated_world (mu : means) (z k : Z) (h : trajectory S A R) : trajectory S A R :=
    match h with
    | start s => start (s - initial_mean mu z + initial_mean mu k)
    | step past a r s =>
        let before := estimated_world mu z k past in
        step before a
             (r - reward_mean mu (current past) a z + reward_mean mu (current before) a k)
             (s - state_mean mu (current past) a z + state_mean mu (current before) a k)
    end.

  (** Line 9: rewards of all worlds, weighted by P(Z = z(k)).  [scale] multiplies a reward by a weight. *)
  Definition weighted {W : Type} (scale : W -> R -> R) (p : list W) (rewards : list R) : R :=
    fold_right (fun '(pk, rk) total => scale pk rk + total) zero (combine p rewards).

  (** The i-th listed world of a family. *)
  Definition component (i : nat) (F : trajectory (list S) A (list R)) : trajectory S A R :=
    relabel (fun l => nth i l zero) (fun l => nth i l zero) F.

  Lemma algorithm1_current (mu : means) (z : Z) (h : trajectory S A R) :
    current (algorithm1 mu z h) = map (fun k => current (estimated_world mu z k h)) levels.
  Proof.
    induction h as [s | past IH a r s]; simpl; [reflexivity |].
    rewrite IH, combine_map, map_map. reflexivity.
  Qed.

  (** The lists of [algorithm1] are the worlds of [estimated_world], level by level. *)
  Lemma algorithm1_component (mu : means) (z k : Z) (i : nat) (h : trajectory S A R) :
    nth_error levels i = Some k -> component i (algorithm1 mu z h) = estimated_world mu z k h.
  Proof.
    intros Hk; unfold component; induction h as [s | past IH a r s]; cbn.
    - rewrite (nth_of_level _ _ _ _ _ Hk). reflexivity.
    - rewrite IH, algorithm1_current, combine_map, !map_map, !(nth_of_level _ _ _ _ _ Hk). reflexivity.
  Qed.

  (** ** Additive noise is a family of bijections *)

  Definition additive_noise (mu : means) : mechanism Z S A R S R := {|
    first_of z u := initial_mean mu z + u;
    first_inverse z s := s - initial_mean mu z;
    reward_of z s a u := reward_mean mu s a z + u;
    reward_inverse z s a r := r - reward_mean mu s a z;
    next_of z s a u := state_mean mu s a z + u;
    next_inverse z s a s' := s' - state_mean mu s a z
  |}.

  Lemma additive_noise_is_determined (mu : means) : noise_is_determined (additive_noise mu).
  Proof. repeat split; intros; simpl; apply plus_minus. Qed.

  Lemma additive_outcomes_are_reached (mu : means) : outcomes_are_reached (additive_noise mu).
  Proof. repeat split; intros; simpl; rewrite plus_comm; apply minus_plus. Qed.

  (** The algorithm as printed is the general one at u -> mu + u. *)
  (* label: alg:cf:1 *)
  Theorem algorithm1_is_the_additive_case (mu : means) (z : Z) (h : trajectory S A R) :
    algorithm1 mu z h = carry levels (additive_noise mu) z h.
  Proof.
    induction h as [s | past IH a r s]; simpl.
    - f_equal. apply map_ext. intros k. apply plus_comm.
    - rewrite IH. f_equal; apply map_ext; intros [k sk]; apply plus_comm.
  Qed.

  Lemma estimated_world_is_carried (mu : means) (z k : Z) (h : trajectory S A R) :
    estimated_world mu z k h = carried_world (additive_noise mu) z k h.
  Proof.
    induction h as [s | past IH a r s]; simpl; [f_equal; apply plus_comm |].
    rewrite IH. f_equal; apply plus_comm.
  Qed.

  Lemma residuals_are_noise (mu : means) (z : Z) (h : trajectory S A R) : residuals mu z h = noise_of (additive_noise mu) z h.
  Proof. induction h as [s | past IH a r s]; simpl; [| rewrite IH]; reflexivity. Qed.

  Lemma estimated_world_exact (mu : means) (z k : Z) (w : trajectory S A R) :
    estimated_world mu z k (simulate (additive mu) z w) = simulate (additive mu) k w.
  Proof.
    rewrite estimated_world_is_carried.
    exact (carried_world_exact (additive_noise mu) z k w (additive_noise_is_determined mu)).
  Qed.

  (** ** Headline results *)

  (** Noise is a function of the history: the residuals are the noise. *)
  (* label: asm:unique *)
  Theorem noise_is_a_function_of_the_history (mu : means) : noise_is_read_off (additive mu) (abduct mu).
  Proof.
    intros z w. unfold abduct. rewrite residuals_are_noise.
    exact (determined_noise_is_read_off (additive_noise mu) (additive_noise_is_determined mu) z w).
  Qed.

  (** ... and every history, reached in practice or not, has noise behind it. *)
  (* label: asm:unique *)
  Theorem every_history_has_its_noise (mu : means) (h : history Z S A R) :
    snd h = simulate (additive mu) (fst h) (abduct mu h).
  Proof.
    unfold abduct. rewrite residuals_are_noise.
    exact (reached_histories_have_noise (additive_noise mu) h (additive_outcomes_are_reached mu)).
  Qed.

  (** With exact means the output is the true family of counterfactual states and rewards, at every t and every level. *)
  (* label: alg:cf:1 *)
  Theorem algorithm1_is_exact (mu : means) (z : Z) (w : trajectory S A R) :
    algorithm1 mu z (simulate (additive mu) z w) = family (additive mu) levels w.
  Proof.
    rewrite algorithm1_is_the_additive_case.
    exact (carry_is_exact levels (additive_noise mu) z w (additive_noise_is_determined mu)).
  Qed.

  (** The same for any observed history: preprocessing is abduction followed by prediction at every level. *)
  (* label: alg:cf:1 *)
  Theorem algorithm1_is_augmentation (mu : means) (z : Z) (h : trajectory S A R) :
    algorithm1 mu z h = augment (additive mu) (abduct mu) levels (z, h).
  Proof.
    unfold augment. rewrite <- (algorithm1_is_exact mu z). f_equal.
    exact (every_history_has_its_noise mu (z, h)).
  Qed.

  (** World by world: the component of level k is the counterfactual history under do(Z = k). *)
  (* label: alg:cf:1 *)
  Theorem algorithm1_component_is_counterfactual (mu : means) (z k : Z) (i : nat) (w : trajectory S A R) :
    nth_error levels i = Some k ->
    component i (algorithm1 mu z (simulate (additive mu) z w)) = simulate (additive mu) k w.
  Proof. intros Hk. rewrite (algorithm1_component _ _ _ _ _ Hk). apply estimated_world_exact. Qed.

  (** For any means at all, right or wrong, the component of the person's own level is the data. *)
  (* label: alg:cf:1 *)
  Theorem algorithm1_keeps_the_facts (mu : means) (z : Z) (i : nat) (h : trajectory S A R) :
    nth_error levels i = Some z -> component i (algorithm1 mu z h) = h.
  Proof.
    rewrite algorithm1_is_the_additive_case.
    exact (carry_keeps_the_facts levels (additive_noise mu) z i zero zero h (additive_outcomes_are_reached mu)).
  Qed.

End Algorithm1.

Arguments means : clear implicits.
