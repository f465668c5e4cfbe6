(** * def:cf_policy_strict costs nothing

    A strictly fair rule may not react to the actions that a person happened to receive.  It can *replay* instead: work
    out from the noise which actions a fair policy would have given from the start, and continue that story.  Deployed
    from t = 1 the replay takes the same actions as the policy it replays, so strict fairness does not lower the
    optimum; the statement that it does is false. *)

From Coq Require Import List Reals.
From Counterfair Require Import Model Fairness.
Import ListNotations.

Section Strict.
  Context {Z S A R US UR : Type}.
  Variable M : structural_model Z S A R US UR.
  Variable abduct : history Z S A R -> trajectory US A UR.
  Hypothesis asm_unique : noise_is_read_off M abduct.

  (** The noise alone: the actions are forgotten. *)
  Fixpoint forget (w : trajectory US A UR) : trajectory US unit UR :=
    match w with
    | start u => start u
    | step past _ ur us => step (forget past) tt ur us
    end.

  (** def:cf_policy_strict: neither the level nor the past actions may be changed to any effect. *)
  Definition strictly_fair (pi : history Z S A R -> A) : Prop :=
    forall z z' w w', forget w = forget w' -> pi (z, simulate M z w) = pi (z', simulate M z' w').

  (** Deploy a rule from t = 1 on a person at level z with the given noise. *)
  Fixpoint rollout (pi : history Z S A R -> A) (z : Z) (noise : trajectory US unit UR) : trajectory US A UR :=
    match noise with
    | start u => start u
    | step past _ ur us =>
        let w := rollout pi z past in
        step w (pi (z, simulate M z w)) ur us
    end.

  (** What is then observed. *)
  Definition deployed (pi : history Z S A R -> A) (z : Z) (noise : trajectory US unit UR) : trajectory S A R :=
    simulate M z (rollout pi z noise).

  (** The replay of [pi], told in the world of a reference level z1. *)
  Definition replay (z1 : Z) (pi : history Z S A R -> A) (h : history Z S A R) : A :=
    pi (z1, deployed pi z1 (forget (abduct h))).

  Lemma forget_rollout (pi : history Z S A R -> A) (z : Z) (noise : trajectory US unit UR) :
    forget (rollout pi z noise) = noise.
  Proof. induction noise as [u | past IH [] ur us]; simpl; [| rewrite IH]; reflexivity. Qed.

  (** A fair rule takes the same actions at every level. *)
  Lemma fair_rollout (pi : history Z S A R -> A) (z z' : Z) (noise : trajectory US unit UR) :
    fair M abduct pi -> rollout pi z noise = rollout pi z' noise.
  Proof.
    intros Hfair. induction noise as [u | past IH [] ur us]; simpl; [reflexivity |].
    rewrite IH. f_equal. exact (proj1 (fair_worlds M abduct asm_unique eq pi) Hfair z z' _).
  Qed.

  (** ** Headline results *)

  (** Strict fairness implies fairness. *)
  (* label: def:cf_policy_strict *)
  Theorem strictly_fair_is_fair (pi : history Z S A R -> A) : strictly_fair pi -> fair M abduct pi.
  Proof. intros H. apply (fair_worlds M abduct asm_unique eq). intros z z' w. apply H. reflexivity. Qed.

  (** Strictly fair rules are exactly those that read the noise and nothing else. *)
  (* label: def:cf_policy_strict *)
  Theorem strictly_fair_iff_reads_noise_alone (z1 : Z) (a : A) (pi : history Z S A R -> A) :
    strictly_fair pi <-> exists g, forall h, reachable M h -> pi h = g (forget (abduct h)).
  Proof.
    split.
    - intros H. exists (fun noise => pi (z1, deployed (fun _ => a) z1 noise)).
      intros [z h] [w Hw]; simpl in *; subst h. rewrite asm_unique. apply H.
      rewrite forget_rollout. reflexivity.
    - intros [g Hg] z z' w w' E.
      rewrite (Hg (z, simulate M z w)), (Hg (z', simulate M z' w')), !asm_unique, E;
        [reflexivity | exists w' | exists w]; reflexivity.
  Qed.

  (** The replay is strictly fair, whatever it replays. *)
  (* label: def:cf_policy_strict *)
  Theorem replay_is_strictly_fair (z1 : Z) (pi : history Z S A R -> A) : strictly_fair (replay z1 pi).
  Proof. intros z z' w w' E. unfold replay. rewrite !asm_unique, E. reflexivity. Qed.

  (** The replay of a fair rule takes the same actions as the rule, for every person and every noise. *)
  (* label: def:cf_policy_strict *)
  Theorem replay_takes_the_same_actions (z1 : Z) (pi : history Z S A R -> A) :
    fair M abduct pi -> forall z noise, deployed (replay z1 pi) z noise = deployed pi z noise.
  Proof.
    intros Hfair z noise. unfold deployed. f_equal.
    induction noise as [u | past IH [] ur us]; simpl; [reflexivity |].
    rewrite IH. f_equal. unfold replay.
    rewrite asm_unique, forget_rollout. unfold deployed.
    rewrite (fair_rollout pi z1 z past Hfair).
    exact (proj1 (fair_worlds M abduct asm_unique eq pi) Hfair z1 z _).
  Qed.

  (** The value of a rule: any number earned on the deployed trajectory, averaged over any finite law of people. *)
  Definition value (population : list (Rdefinitions.R * (Z * trajectory US unit UR)))
             (earned : history Z S A R -> Rdefinitions.R) (pi : history Z S A R -> A) : Rdefinitions.R :=
    fold_right (fun '(p, (z, noise)) total => p * earned (z, deployed pi z noise) + total)%R 0%R population.

  (** The two optima agree: what bounds the value of all strictly fair rules bounds that of all fair rules. *)
  (* label: def:cf_policy_strict *)
  (* label: M-TXT3 *)
  Theorem strict_fairness_costs_nothing (z1 : Z) population earned :
    (forall pi, fair M abduct pi ->
       exists pi', strictly_fair pi' /\ value population earned pi' = value population earned pi)
    /\ forall bound : Rdefinitions.R,
       (forall pi, strictly_fair pi -> (value population earned pi <= bound)%R) <->
       (forall pi, fair M abduct pi -> (value population earned pi <= bound)%R).
  Proof.
    assert (same : forall pi, fair M abduct pi ->
              value population earned (replay z1 pi) = value population earned pi).
    { intros pi Hfair. unfold value. induction population as [| [p [z noise]] people IH]; simpl; [reflexivity |].
      rewrite IH, (replay_takes_the_same_actions z1 pi Hfair). reflexivity. }
    split.
    - intros pi Hfair. exists (replay z1 pi). split; [apply replay_is_strictly_fair | exact (same pi Hfair)].
    - intros bound. split; intros H pi Hpi.
      + rewrite <- (same pi Hpi). apply H, replay_is_strictly_fair.
      + apply H, strictly_fair_is_fair, Hpi.
  Qed.
End Strict.
