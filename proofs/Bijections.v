(** * alg:cf:1 for any noise that the data determine

    Additivity is not needed.  What is needed is that at each level, given the previous state and the action, noise and outcome
    determine each other: s = q_z(u) and u = q_z^-1(s).  The counterfactual at level k is then

      s^k = q_k(q_z^-1(s)),   each q in its own world's previous state.

    Additive noise, noise with a scale and noise carried over by ranks are three instances; see [Algorithm1] and [Rungs]. *)

From Coq Require Import List RelationClasses.
From Counterfair Require Import Model.
Import ListNotations.

Lemma combine_map {Z X : Type} (f : Z -> X) (l : list Z) : combine l (map f l) = map (fun k => (k, f k)) l.
Proof. induction l as [| k l IH]; simpl; [| rewrite IH]; reflexivity. Qed.

Lemma nth_of_level {Z X : Type} (f : Z -> X) (i : nat) (k : Z) (d : X) (l : list Z) :
  nth_error l i = Some k -> nth i (map f l) d = f k.
Proof.
  revert i; induction l as [| k' l IH]; intros [| i] H; simpl in *; try discriminate.
  - injection H as ->. reflexivity.
  - apply IH, H.
Qed.

Section Bijections.
  Context {Z S A R US UR : Type}.

  (** q and q^-1 for the first state, for rewards and for later states. *)
  Record mechanism : Type := {
    first_of    : Z -> US -> S;
    first_inverse : Z -> S -> US;
    reward_of    : Z -> S -> A -> UR -> R;
    reward_inverse : Z -> S -> A -> R -> UR;
    next_of    : Z -> S -> A -> US -> S;
    next_inverse : Z -> S -> A -> S -> US
  }.

  (** q^-1(q(u)) = u: the data determine the noise. *)
  Definition noise_is_determined (m : mechanism) : Prop :=
    (forall z u, first_inverse m z (first_of m z u) = u)
    /\ (forall z s a u, reward_inverse m z s a (reward_of m z s a u) = u)
    /\ (forall z s a u, next_inverse m z s a (next_of m z s a u) = u).

  (** q(q^-1(s)) = s: every outcome can come about. *)
  Definition outcomes_are_reached (m : mechanism) : Prop :=
    (forall z s, first_of m z (first_inverse m z s) = s)
    /\ (forall z s a r, reward_of m z s a (reward_inverse m z s a r) = r)
    /\ (forall z s a s', next_of m z s a (next_inverse m z s a s') = s').

  Definition as_model (m : mechanism) : structural_model Z S A R US UR := {|
    first_state := first_of m;
    reward z h a u := reward_of m z (current h) a u;
    next_state z h a _ u := next_of m z (current h) a u
  |}.

  (** The noise behind an observed history. *)
  Fixpoint noise_of (m : mechanism) (z : Z) (h : trajectory S A R) : trajectory US A UR :=
    match h with
    | start s => start (first_inverse m z s)
    | step past a r s =>
        step (noise_of m z past) a (reward_inverse m z (current past) a r) (next_inverse m z (current past) a s)
    end.

  Definition read_noise (m : mechanism) (h : history Z S A R) : trajectory US A UR := noise_of m (fst h) (snd h).

  (** One world at a time. *)
  Fixpoint carried_world (m : mechanism) (z k : Z) (h : trajectory S A R) : trajectory S A R :=
    match h with
    | start s => start (first_of m k (first_inverse m z s))
    | step past a r s =>
        let before := carried_world m z k past in
        step before a
             (reward_of m k (current before) a (reward_inverse m z (current past) a r))
             (next_of m k (current before) a (next_inverse m z (current past) a s))
    end.

  Variable levels : list Z.

  (** alg:cf:1 with q_k(q_z^-1(.)) in the place of s - mu_z + mu_k. *)
  Fixpoint carry (m : mechanism) (z : Z) (h : trajectory S A R) : trajectory (list S) A (list R) :=
    match h with
    | start s => start (map (fun k => first_of m k (first_inverse m z s)) levels)
    | step past a r s =>
        let before := carry m z past in
        let worlds := combine levels (current before) in
        step before a
             (map (fun '(k, sk) => reward_of m k sk a (reward_inverse m z (current past) a r)) worlds)
             (map (fun '(k, sk) => next_of m k sk a (next_inverse m z (current past) a s)) worlds)
    end.

  (** The i-th listed world of a family; the defaults are never read for a listed i. *)
  Definition listed_world (s : S) (r : R) (i : nat) (F : trajectory (list S) A (list R)) : trajectory S A R :=
    relabel (fun l => nth i l s) (fun l => nth i l r) F.

  Lemma carry_current m z h : current (carry m z h) = map (fun k => current (carried_world m z k h)) levels.
  Proof.
    induction h as [s | past IH a r s]; simpl; [reflexivity |].
    rewrite IH, combine_map, map_map. reflexivity.
  Qed.

  Lemma carry_component m z k i s0 r0 h :
    nth_error levels i = Some k -> listed_world s0 r0 i (carry m z h) = carried_world m z k h.
  Proof.
    intros Hk; unfold listed_world; induction h as [s | past IH a r s]; cbn.
    - rewrite (nth_of_level _ _ _ _ _ Hk). reflexivity.
    - rewrite IH, carry_current, combine_map, !map_map, !(nth_of_level _ _ _ _ _ Hk). reflexivity.
  Qed.

  Lemma carried_world_exact m z k w :
    noise_is_determined m -> carried_world m z k (simulate (as_model m) z w) = simulate (as_model m) k w.
  Proof.
    intros [H1 [HR HS]]. induction w as [u | past IH a ur us]; simpl; [rewrite H1; reflexivity |].
    rewrite IH, HR, HS. reflexivity.
  Qed.

  Lemma carried_world_factual m z h : outcomes_are_reached m -> carried_world m z z h = h.
  Proof.
    intros [H1 [HR HS]]. induction h as [s | past IH a r s]; simpl; [rewrite H1; reflexivity |].
    rewrite IH, HR, HS. reflexivity.
  Qed.

  (** ** Headline results *)

  (** asm:unique is all that [noise_is_determined] says. *)
  (* label: asm:unique *)
  Theorem determined_noise_is_read_off m : noise_is_determined m -> noise_is_read_off (as_model m) (read_noise m).
  Proof.
    intros [H1 [HR HS]] z w. unfold read_noise; simpl.
    induction w as [u | past IH a ur us]; simpl; [rewrite H1; reflexivity |]. rewrite IH, HR, HS. reflexivity.
  Qed.

  (* label: asm:unique *)
  Theorem reached_histories_have_noise m (h : history Z S A R) :
    outcomes_are_reached m -> snd h = simulate (as_model m) (fst h) (read_noise m h).
  Proof.
    intros [H1 [HR HS]]. destruct h as [z h]; unfold read_noise; simpl.
    induction h as [s | past IH a r s]; simpl; [rewrite H1; reflexivity |]. rewrite <- IH, HR, HS. reflexivity.
  Qed.

  (** Exactness: with the true mechanism, the true counterfactual states and rewards at every t and level. *)
  (* label: alg:cf:1 *)
  Theorem carry_is_exact m z w :
    noise_is_determined m -> carry m z (simulate (as_model m) z w) = family (as_model m) levels w.
  Proof.
    intros H. pose proof H as [H1 [HR HS]]. induction w as [u | past IH a ur us]; simpl.
    - rewrite H1. reflexivity.
    - rewrite <- IH at 1. rewrite carry_current, combine_map, !map_map, HR, HS.
      f_equal; apply map_ext; intro k; rewrite (carried_world_exact m z k past H); reflexivity.
  Qed.

  (** Own component: for *any* mechanism, true or estimated, a person's own world is the data. *)
  (* label: alg:cf:1 *)
  Theorem carry_keeps_the_facts m z i s0 r0 h :
    outcomes_are_reached m -> nth_error levels i = Some z -> listed_world s0 r0 i (carry m z h) = h.
  Proof. intros H Hz. rewrite (carry_component _ _ _ _ _ _ _ Hz). apply carried_world_factual, H. Qed.

  (** Preprocessing is abduction followed by prediction at every level. *)
  (* label: alg:cf:1 *)
  Theorem carry_is_augmentation m z h :
    noise_is_determined m -> outcomes_are_reached m -> carry m z h = augment (as_model m) (read_noise m) levels (z, h).
  Proof.
    intros Hd Hr. unfold augment. rewrite <- (carry_is_exact m z _ Hd). f_equal.
    exact (reached_histories_have_noise m (z, h) Hr).
  Qed.
End Bijections.

Arguments mechanism : clear implicits.
