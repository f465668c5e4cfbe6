(** * thm:cf, in both directions

    A rule is counterfactually fair exactly when it reads nothing but the family of all counterfactual histories. *)

From Coq Require Import List.
From Counterfair Require Import Model Algorithm1.
Import ListNotations.

Section Fairness.
  Context {Z S A R US UR D : Type}.
  Variable M : structural_model Z S A R US UR.
  Variable abduct : history Z S A R -> trajectory US A UR.
  Hypothesis asm_unique : noise_is_read_off M abduct.

  Lemma abduct_counterfactual (z' : Z) (h : history Z S A R) : abduct (counterfactual M abduct z' h) = abduct h.
  Proof. apply asm_unique. Qed.

  (** Consistency: the counterfactual under the person's own level is the fact. *)
  Lemma counterfactual_factual (h : history Z S A R) : reachable M h -> counterfactual M abduct (fst h) h = h.
  Proof.
    destruct h as [z h]; intros [w Hw]; simpl in *; subst h.
    unfold counterfactual; simpl. rewrite asm_unique. reflexivity.
  Qed.

  Lemma counterfactual_reachable (z' : Z) (h : history Z S A R) : reachable M (counterfactual M abduct z' h).
  Proof. exists (abduct h). reflexivity. Qed.

  (** Fair rules agree on all worlds of one noise. *)
  Lemma fair_worlds (pi : history Z S A R -> D) :
    fair M abduct pi <-> forall z z' w, pi (z, simulate M z w) = pi (z', simulate M z' w).
  Proof.
    split; intro H.
    - intros z z' w. specialize (H (z, simulate M z w) (ex_intro _ w eq_refl) z').
      unfold counterfactual in H; simpl in H. rewrite asm_unique in H. symmetry. exact H.
    - intros h _ z'. apply H.
  Qed.

  Variable levels : list Z.

  Lemma augment_counterfactual (z' : Z) (h : history Z S A R) :
    augment M abduct levels (counterfactual M abduct z' h) = augment M abduct levels h.
  Proof. unfold augment. rewrite abduct_counterfactual. reflexivity. Qed.

  (** The first listed world, read off the family. *)
  Definition first_world (s : S) (r : R) (F : trajectory (list S) A (list R)) : trajectory S A R :=
    relabel (fun l => hd s l) (fun l => hd r l) F.

  Lemma first_world_family (s : S) (r : R) (z1 : Z) (others : list Z) (w : trajectory US A UR) :
    first_world s r (family M (z1 :: others) w) = simulate M z1 w.
  Proof. unfold first_world. induction w as [u | past IH a ur us]; simpl; [| rewrite IH]; reflexivity. Qed.

  (** ** Headline results *)

  (** The paper's direction: whatever is computed from the family of counterfactuals is fair. *)
  (* label: thm:cf *)
  Theorem reading_all_worlds_is_fair (g : trajectory (list S) A (list R) -> D) :
    fair M abduct (fun h => g (augment M abduct levels h)).
  Proof. intros h _ z'. rewrite !augment_counterfactual. reflexivity. Qed.

  (** Both directions: there is no fair rule outside the class. *)
  (* label: thm:cf *)
  (* label: M-TXT4 *)
  Theorem fair_iff_reads_all_worlds (pi : history Z S A R -> D) :
    inhabited S -> inhabited R -> levels <> [] ->
    (fair M abduct pi <-> exists g, forall h, reachable M h -> pi h = g (augment M abduct levels h)).
  Proof.
    intros [s] [r] Hlevels. split.
    - destruct levels as [| z1 others]; [contradiction |]. intros Hfair.
      exists (fun F => pi (z1, first_world s r F)). intros h Hh.
      unfold augment. rewrite first_world_family.
      rewrite <- (counterfactual_factual h Hh) at 1.
      symmetry. apply (Hfair h Hh z1).
    - intros [g Hg] h Hh z'.
      rewrite (Hg _ (counterfactual_reachable z' h)), (Hg _ (counterfactual_reachable (fst h) h)).
      rewrite !augment_counterfactual. reflexivity.
  Qed.

  (** Equivalently: fair rules are those that cannot tell apart two histories with the same family of worlds. *)
  (* label: def:cf_policy *)
  Theorem fair_iff_blind_beyond_all_worlds (pi : history Z S A R -> D) :
    inhabited S -> inhabited R -> levels <> [] ->
    (fair M abduct pi <->
     forall h h', reachable M h -> reachable M h' ->
       augment M abduct levels h = augment M abduct levels h' -> pi h = pi h').
  Proof.
    intros Hs Hr Hlevels. split.
    - intros Hfair h h' Hh Hh' E.
      apply (fair_iff_reads_all_worlds pi Hs Hr Hlevels) in Hfair as [g Hg].
      rewrite (Hg h Hh), (Hg h' Hh'), E. reflexivity.
    - intros H h Hh z'. apply H; try apply counterfactual_reachable.
      rewrite !augment_counterfactual. reflexivity.
  Qed.
End Fairness.

(** ** The algorithm *)

Section FairnessOfAlgorithm1.
  Context {Z A D : Type} {S R : abelian_group}.
  Variables (mu : means Z A S R) (levels : list Z).

  (** With exact means, every rule that reads only the output of alg:cf:1 is fair. *)
  (* label: thm:cf *)
  Theorem reading_algorithm1_is_fair (g : trajectory (list S) A (list R) -> D) :
    fair (additive mu) (abduct mu) (fun h => g (algorithm1 levels mu (fst h) (snd h))).
  Proof.
    intros h _ z'. rewrite !algorithm1_is_augmentation. f_equal. simpl.
    exact (eq_trans (augment_counterfactual _ _ (noise_is_a_function_of_the_history mu) levels z' h)
             (eq_sym (augment_counterfactual _ _ (noise_is_a_function_of_the_history mu) levels (fst h) h))).
  Qed.

  (** And every fair rule is one of these: under additive noise nothing is lost by preprocessing. *)
  (* label: thm:cf *)
  Theorem every_fair_rule_reads_algorithm1 (pi : history Z S A R -> D) :
    levels <> [] -> fair (additive mu) (abduct mu) pi ->
    exists g, forall h, pi h = g (algorithm1 levels mu (fst h) (snd h)).
  Proof.
    intros Hlevels Hfair.
    apply (fair_iff_reads_all_worlds _ _ (noise_is_a_function_of_the_history mu) levels pi
             (inhabits zero) (inhabits zero) Hlevels) in Hfair as [g Hg].
    exists g. intros [z h]. rewrite algorithm1_is_augmentation. apply Hg.
    exists (abduct mu (z, h)). apply every_history_has_its_noise.
  Qed.
End FairnessOfAlgorithm1.
