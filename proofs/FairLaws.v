(** * thm:cf for rules that randomise: fairness is equality of laws

    A randomised rule returns a finite law over actions, written as a list of weights.  Two lists may say the same law: in another
    order, with a weight split in two, with zeros.  def:cf_policy asks for equal laws, not for equal lists. *)

From Coq Require Import List Reals Lra.
From Counterfair Require Import Model Algorithm1 Fairness Finite.
Import ListNotations.
Open Scope R_scope.

Section FairLaws.
  Context {Z S A R US UR : Type}.
  Variable M : structural_model Z S A R US UR.
  Variable abduct : history Z S A R -> trajectory US A UR.

  (** def:cf_policy for a rule whose decision is a law over actions. *)
  Definition fair_in_law (pi : history Z S A R -> list (Rdefinitions.R * A)) : Prop := fair_up_to M abduct same_law pi.

  (** Weight by weight: in every world, every action has the probability that it has in fact. *)
  (* label: def:cf_policy *)
  Theorem fair_in_law_by_weights pi :
    fair_in_law pi <->
    forall h, reachable M h -> forall z' a,
      weight (pi (counterfactual M abduct z' h)) a = weight (pi (counterfactual M abduct (fst h) h)) a.
  Proof.
    split; intros H h Hh z'.
    - apply same_law_by_weights, H, Hh.
    - apply same_law_by_weights. apply H, Hh.
  Qed.

  Hypothesis asm_unique : noise_is_read_off M abduct.
  Variable levels : list Z.

  (** A law over actions is fair exactly when it is a function of the family of all worlds. *)
  (* label: thm:cf *)
  (* label: M-TXT4 *)
  Theorem fair_in_law_iff_reads_all_worlds pi :
    inhabited S -> inhabited R -> levels <> [] ->
    (fair_in_law pi <-> exists g, forall h, reachable M h -> same_law (pi h) (g (augment M abduct levels h))).
  Proof. exact (fair_iff_reads_all_worlds M abduct asm_unique same_law levels pi). Qed.

  (** A rule that is fair as a list is fair in law. *)
  Lemma fair_is_fair_in_law pi : fair M abduct pi -> fair_in_law pi.
  Proof. intros H h Hh z'. rewrite (H h Hh z'). reflexivity. Qed.
End FairLaws.

(** Equality of lists would be too narrow: a fair coin, written heads first at one level and tails first at the other. *)
Section Coin.
  Definition coin_model : structural_model bool unit bool unit unit unit :=
    {| first_state _ _ := tt; reward _ _ _ _ := tt; next_state _ _ _ _ _ := tt |}.

  Definition coin_abduct (h : history bool unit bool unit) : trajectory unit bool unit := snd h.

  Definition coin (h : history bool unit bool unit) : list (R * bool) :=
    if fst h then [(1/2, true); (1/2, false)] else [(1/2, false); (1/2, true)].

  (* label: def:cf_policy *)
  Theorem equal_lists_are_too_narrow :
    fair_in_law coin_model coin_abduct coin /\ ~ fair coin_model coin_abduct coin.
  Proof.
    split.
    - intros [[|] h] _ [|] E; unfold coin, prob; cbn [counterfactual fst expect]; ring.
    - intros H. specialize (H (true, start tt) (ex_intro _ (start tt) eq_refl) false).
      unfold counterfactual, coin in H; simpl in H. congruence.
  Qed.
End Coin.
