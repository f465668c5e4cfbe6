(** * M-TXT1: with estimated means the preprocessed states need not be a Markov chain

    "These preprocessed experience tuples naturally form a MDP" holds for the true means.  Here is a case with wrong ones, in whole
    numbers (units of 1/10).  Two equally likely levels; all true means are 0; the noise of every step is 0 or 1, each with
    probability 1/2; one action.  The estimated mean of the next state is 0 at level 0 and 1 at level 1; the first mean is estimated
    without error.  From the second state on alg:cf:1 returns (0, 1) or (1, 2) for a person at level 0, (-1, 0) or (0, 1) for a
    person at level 1: (0, 1) does not tell the level, but the state before it may.  So

      P(s_4 = (1, 2) | s_3 = (0, 1)) = 1/4,   and given s_2 as well: 1/2 after (1, 2), 0 after (-1, 0). *)

From Coq Require Import List ZArith Bool Lia.
From Counterfair Require Import Model Bijections Algorithm1.
Import ListNotations.
Open Scope Z_scope.

Definition integers : abelian_group.
Proof.
  refine {| carrier := Z; zero := 0; plus := Z.add; opp := Z.opp |}; intros; lia.
Defined.

Definition no_effect : means bool unit integers integers :=
  @Build_means bool unit integers integers (fun _ => 0) (fun _ _ _ => 0) (fun _ _ _ => 0).

Definition one_too_many : means bool unit integers integers :=
  @Build_means bool unit integers integers (fun _ => 0) (fun _ _ z => if z then 1 else 0) (fun _ _ _ => 0).

(** A person: level, and the noise of four states. *)
Record person : Set := { level : bool; u1 : Z; u2 : Z; u3 : Z; u4 : Z }.

Definition people : list person :=
  flat_map (fun z => flat_map (fun a => flat_map (fun b => flat_map (fun c => map (fun d =>
    {| level := z; u1 := a; u2 := b; u3 := c; u4 := d |}) [0; 1]) [0; 1]) [0; 1]) [0; 1]) [false; true].

(** What is observed of a person, and what alg:cf:1 makes of it with the estimated means. *)
Definition noise_behind (o : person) : trajectory integers unit integers :=
  step (step (step (start (u1 o : integers)) tt (0 : integers) (u2 o : integers)) tt (0 : integers) (u3 o : integers))
    tt (0 : integers) (u4 o : integers).
Definition observed (o : person) : trajectory integers unit integers := simulate (additive no_effect) (level o) (noise_behind o).
Definition preprocessed (mu : means bool unit integers integers) (o : person) : trajectory (list integers) unit (list integers) :=
  algorithm1 [false; true] mu (level o) (observed o).

(** Its state t steps before the last. *)
Fixpoint steps_before {S A R : Type} (t : nat) (h : trajectory S A R) : S :=
  match t, h with
  | O, _ => current h
  | Datatypes.S t, step past _ _ _ => steps_before t past
  | Datatypes.S _, start s => s
  end.

Definition is_pair (x y : Z) (s : list integers) : bool :=
  match s with [a; b] => Z.eqb a x && Z.eqb b y | _ => false end.

(** How many of the 32 equally likely people. *)
Definition count (E : person -> bool) : nat := length (filter E people).

Section Counts.
  Variable mu : means bool unit integers integers.
  Definition s2 (x y : Z) (o : person) : bool := is_pair x y (steps_before 2 (preprocessed mu o)).
  Definition s3 (x y : Z) (o : person) : bool := is_pair x y (steps_before 1 (preprocessed mu o)).
  Definition s4 (x y : Z) (o : person) : bool := is_pair x y (steps_before 0 (preprocessed mu o)).
End Counts.

(** Probabilities are counts divided by 32: 4 of 16, but 2 of 4 and 0 of 4. *)
(* label: M-TXT1 *)
Theorem estimated_states_are_not_markov :
  let s2 := s2 one_too_many in let s3 := s3 one_too_many in let s4 := s4 one_too_many in
  (count (s3 0 1) = 16%nat /\ count (fun o => s3 0 1 o && s4 1 2 o) = 4%nat
   /\ count (fun o => s2 1 2 o && s3 0 1 o) = 4%nat /\ count (fun o => s2 1 2 o && s3 0 1 o && s4 1 2 o) = 2%nat
   /\ count (fun o => s2 (-1) 0 o && s3 0 1 o) = 4%nat /\ count (fun o => s2 (-1) 0 o && s3 0 1 o && s4 1 2 o) = 0%nat).
Proof. vm_compute. repeat split. Qed.

(** With the true means all worlds agree, and the next state does not depend on what came before: 8 of 16 and 4 of 8. *)
(* label: M-TXT1 *)
Theorem true_means_keep_these_states_markov :
  let s2 := s2 no_effect in let s3 := s3 no_effect in let s4 := s4 no_effect in
  forall x y v, In x [0; 1] -> In y [0; 1] -> In v [0; 1] ->
  (count (s3 x x) = 16%nat /\ count (fun o => s3 x x o && s4 y y o) = 8%nat
   /\ count (fun o => s2 v v o && s3 x x o) = 8%nat /\ count (fun o => s2 v v o && s3 x x o && s4 y y o) = 4%nat).
Proof.
  intros s2' s3' s4' x y v Hx Hy Hv.
  destruct Hx as [<- | [<- | []]], Hy as [<- | [<- | []]], Hv as [<- | [<- | []]]; vm_compute; repeat split.
Qed.
