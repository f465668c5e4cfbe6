(** * The structural model, its histories and its counterfactuals

    Everything in this file is a definition; the theorems about it live in [Algorithm1], [Fairness] and [Strict].

    One shape serves three purposes.  A [trajectory S A R] is  s1, (a1, r1, s2), (a2, r2, s3), ...  grown on the right:

    - [trajectory S A R]               what is observed:   states, actions, rewards;
    - [trajectory US A UR]             what is behind it:  the noise of each state and reward, with the actions taken;
    - [trajectory (list S) A (list R)] what a fair rule may read: one counterfactual state and reward per level of Z. *)

From Coq Require Import List.
Import ListNotations.

Inductive trajectory (S A R : Type) : Type :=
| start (s : S)
| step (past : trajectory S A R) (a : A) (r : R) (s : S).

Arguments start {S A R} s.
Arguments step {S A R} past a r s.

(** The newest entry, S_t. *)
Definition current {S A R : Type} (h : trajectory S A R) : S :=
  match h with
  | start s => s
  | step _ _ _ s => s
  end.

(** Relabel every entry, keeping the actions. *)
Fixpoint relabel {S A R S' R' : Type} (f : S -> S') (g : R -> R') (h : trajectory S A R) : trajectory S' A R' :=
  match h with
  | start s => start (f s)
  | step past a r s => step (relabel f g past) a (g r) (f s)
  end.

(** ** Structural equations

    The equations may read the level Z, the whole past, the action and the newest reward, so neither the Markov
    property nor stationarity is built in. *)

Record structural_model (Z S A R US UR : Type) : Type := {
  first_state : Z -> US -> S;
  reward      : Z -> trajectory S A R -> A -> UR -> R;
  next_state  : Z -> trajectory S A R -> A -> R -> US -> S
}.

Arguments first_state {Z S A R US UR}.
Arguments reward {Z S A R US UR}.
Arguments next_state {Z S A R US UR}.

(** A decision rule maps (Z, H_t) to a decision.  A decision is an action or a law over actions; the theorems ask only
    when two decisions are the same.  The length of the history tells t, so one rule stands for the whole sequence pi_1, pi_2, ... *)
Definition history (Z S A R : Type) : Type := (Z * trajectory S A R)%type.

Section Counterfactuals.
  Context {Z S A R US UR D : Type}.
  Variable M : structural_model Z S A R US UR.

  (** The world under do(Z = z): the same noise and the same actions, pushed through the equations of level z. *)
  Fixpoint simulate (z : Z) (w : trajectory US A UR) : trajectory S A R :=
    match w with
    | start u => start (first_state M z u)
    | step past a ur us =>
        let h := simulate z past in
        let r := reward M z h a ur in
        step h a r (next_state M z h a r us)
    end.

  (** A history that the model can produce. *)
  Definition reachable (h : history Z S A R) : Prop :=
    exists w, snd h = simulate (fst h) w.

  (** asm:unique.  [abduct] reads the noise off the history. *)
  Definition noise_is_read_off (abduct : history Z S A R -> trajectory US A UR) : Prop :=
    forall z w, abduct (z, simulate z w) = w.

  Variable abduct : history Z S A R -> trajectory US A UR.

  (** Abduction, action, prediction: the history this person would have had at level z'. *)
  Definition counterfactual (z' : Z) (h : history Z S A R) : history Z S A R :=
    (z', simulate z' (abduct h)).

  (** def:cf_policy, with [same] saying when two decisions count as one: equal actions, or equal laws over actions. *)
  Definition fair_up_to (same : D -> D -> Prop) (pi : history Z S A R -> D) : Prop :=
    forall h, reachable h -> forall z', same (pi (counterfactual z' h)) (pi (counterfactual (fst h) h)).

  (** For decisions that are written down in one way only. *)
  Definition fair (pi : history Z S A R -> D) : Prop := fair_up_to eq pi.

  (** The levels z(1), ..., z(K), in the order in which counterfactuals are listed. *)
  Variable levels : list Z.

  (** All worlds at once: at each time, one state and one reward per level, from the same noise. *)
  Fixpoint family (w : trajectory US A UR) : trajectory (list S) A (list R) :=
    match w with
    | start u => start (map (fun k => first_state M k u) levels)
    | step past a ur us =>
        let r k := reward M k (simulate k past) a ur in
        step (family past) a (map r levels) (map (fun k => next_state M k (simulate k past) a (r k) us) levels)
    end.

  (** The input of eq:cf_form: all counterfactual states, all counterfactual rewards, the actions. *)
  Definition augment (h : history Z S A R) : trajectory (list S) A (list R) := family (abduct h).
End Counterfactuals.

(** ** Abelian groups: all that additive noise needs *)

Record abelian_group : Type := {
  carrier :> Type;
  zero : carrier;
  plus : carrier -> carrier -> carrier;
  opp  : carrier -> carrier;
  plus_assoc : forall x y z, plus x (plus y z) = plus (plus x y) z;
  plus_comm  : forall x y, plus x y = plus y x;
  plus_zero  : forall x, plus x zero = x;
  plus_opp   : forall x, plus x (opp x) = zero
}.

Arguments zero {_}.
Arguments plus {_}.
Arguments opp {_}.

Declare Scope group_scope.
Delimit Scope group_scope with G.
Infix "+" := plus : group_scope.
Notation "- x" := (opp x) : group_scope.
Notation "x - y" := (plus x (opp y)) : group_scope.
