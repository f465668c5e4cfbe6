(** * thm:cf, in both directions

    A rule is counterfactually fair exactly when it reads nothing but the family of all counterfactual histories: the
    states and rewards of all worlds and the past actions.  [same] is any notion of equal decisions; [FairLaws] takes
    equality of laws. *)

From Coq Require Import List RelationClasses.
From Counterfair Require Import Model Bijections Algorithm1.
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

  Variable same : D -> D -> Prop.
  Context {same_is_equivalence : Equivalence same}.

  (** Fair rules agree on all worlds of one noise. *)
  Lemma fair_worlds (pi : history Z S A R -> D) :
    fair_up_to M abduct same pi <-> forall z z' w, same (pi (z, simulate M z w)) (pi (z', simulate M z' w)).
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
    fair_up_to M abduct same (fun h => g (augment M abduct levels h)).
  Proof. intros h _ z'. rewrite !augment_counterfactual. reflexivity. Qed.

  (** Both directions: there is no fair rule outside the class. *)
  (* label: thm:cf *)
  (* label: M-TXT4 *)
  Theorem fair_iff_reads_all_worlds (pi : history Z S A R -> D) :
    inhabited S -> inhabited R -> levels <> [] ->
    (fair_up_to M abduct same pi <->
     exists g, forall h, reachable M h -> same (pi h) (g (augment M abduct levels h))).
  Proof.
    intros [s] [r] Hlevels. split.
    - destruct levels as [| z1 others]; [contradiction |]. intros Hfair.
      exists (fun F => pi (z1, first_world s r F)). intros h Hh.
      unfold augment. rewrite first_world_family.
      rewrite <- (counterfactual_factual h Hh) at 1.
      symmetry. apply (Hfair h Hh z1).
    - intros [g Hg] h Hh z'.
      transitivity (g (augment M abduct levels h)); [| symmetry].
      + rewrite <- (augment_counterfactual z' h). apply Hg, counterfactual_reachable.
      + rewrite <- (augment_counterfactual (fst h) h). apply Hg, counterfactual_reachable.
  Qed.

  (** Equivalently: fair rules are those that cannot tell apart two histories with the same family of worlds. *)
  (* label: def:cf_policy *)
  Theorem fair_iff_blind_beyond_all_worlds (pi : history Z S A R -> D) :
    inhabited S -> inhabited R -> levels <> [] ->
    (fair_up_to M abduct same pi <->
     forall h h', reachable M h -> reachable M h' ->
       augment M abduct levels h = augment M abduct levels h' -> same (pi h) (pi h')).
  Proof.
    intros Hs Hr Hlevels. split.
    - intros Hfair h h' Hh Hh' E.
      apply (fair_iff_reads_all_worlds pi Hs Hr Hlevels) in Hfair as [g Hg].
      transitivity (g (augment M abduct levels h')); [rewrite <- E; apply Hg, Hh | symmetry; apply Hg, Hh'].
    - intros H h Hh z'. apply H; try apply counterfactual_reachable.
      rewrite !augment_counterfactual. reflexivity.
  Qed.
End Fairness.

(** ** The algorithm *)

Section FairnessOfBijections.
  Context {Z S A R US UR D : Type}.
  Variables (m : mechanism Z S A R US UR) (levels : list Z) (same : D -> D -> Prop).
  Context {same_is_equivalence : Equivalence same}.
  Hypothesis determined : noise_is_determined m.
  Hypothesis reached : outcomes_are_reached m.

  (** With the true mechanism, every rule that reads only the output of alg:cf:1 is fair: noise need not be additive. *)
  (* label: thm:cf *)
  Theorem reading_carried_worlds_is_fair (g : trajectory (list S) A (list R) -> D) :
    fair_up_to (as_model m) (read_noise m) same (fun h => g (carry levels m (fst h) (snd h))).
  Proof.
    intros h _ z'. rewrite !(carry_is_augmentation levels m _ _ determined reached). simpl.
    rewrite (augment_counterfactual _ _ (determined_noise_is_read_off m determined) levels z' h
             : augment _ _ levels (z', _) = _).
    rewrite (augment_counterfactual _ _ (determined_noise_is_read_off m determined) levels (fst h) h
             : augment _ _ levels (fst h, _) = _).
    reflexivity.
  Qed.

  (** And every fair rule is one of these: nothing is lost by preprocessing. *)
  (* label: thm:cf *)
  Theorem every_fair_rule_reads_carried_worlds (pi : history Z S A R -> D) :
    inhabited S -> inhabited R -> levels <> [] -> fair_up_to (as_model m) (read_noise m) same pi ->
    exists g, forall h, same (pi h) (g (carry levels m (fst h) (snd h))).
  Proof.
    intros Hs Hr Hlevels Hfair.
    apply (fair_iff_reads_all_worlds _ _ (determined_noise_is_read_off m determined) same levels pi Hs Hr Hlevels)
      in Hfair as [g Hg].
    exists g. intros [z h]. cbn [fst snd]. rewrite (carry_is_augmentation levels m z h determined reached). apply Hg.
    exists (read_noise m (z, h)). apply (reached_histories_have_noise m (z, h) reached).
  Qed.
End FairnessOfBijections.

Section FairnessOfAlgorithm1.
  Context {Z A D : Type} {S R : abelian_group}.
  Variables (mu : means Z A S R) (levels : list Z) (same : D -> D -> Prop).
  Context {same_is_equivalence : Equivalence same}.

  (** With exact means, every rule that reads only the output of alg:cf:1 is fair. *)
  (* label: thm:cf *)
  Theorem reading_algorithm1_is_fair (g : trajectory (list S) A (list R) -> D) :
    fair_up_to (additive mu) (abduct mu) same (fun h => g (algorithm1 levels mu (fst h) (snd h))).
  Proof.
    intros h Hh z'. rewrite !algorithm1_is_the_additive_case. unfold counterfactual, abduct. rewrite residuals_are_noise.
    exact (reading_carried_worlds_is_fair (additive_noise mu) levels same (additive_noise_is_determined mu)
             (additive_outcomes_are_reached mu) g h Hh z').
  Qed.

  (** And every fair rule is one of these: under additive noise nothing is lost by preprocessing. *)
  (* label: thm:cf *)
  Theorem every_fair_rule_reads_algorithm1 (pi : history Z S A R -> D) :
    levels <> [] -> fair_up_to (additive mu) (abduct mu) same pi ->
    exists g, forall h, same (pi h) (g (algorithm1 levels mu (fst h) (snd h))).
  Proof.
    intros Hlevels Hfair.
    destruct (every_fair_rule_reads_carried_worlds (additive_noise mu) levels same (additive_noise_is_determined mu)
                (additive_outcomes_are_reached mu) pi (inhabits zero) (inhabits zero) Hlevels) as [g Hg].
    - intros h Hh z'. specialize (Hfair h Hh z'). unfold counterfactual, abduct in Hfair. rewrite residuals_are_noise in Hfair.
      exact Hfair.
    - exists g. intros h. rewrite algorithm1_is_the_additive_case. apply Hg.
  Qed.
End FairnessOfAlgorithm1.
