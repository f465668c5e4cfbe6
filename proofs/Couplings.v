(** * Two laws on one draw: couplings, and the one that parts least

    A coupling of two laws over actions is a law of pairs whose components have these two laws.  The probability that the two
    components differ is never below the total variation of the laws, and the maximal coupling attains it. *)

From Coq Require Import List Reals Lra Lia Classical_Prop.
From Counterfair Require Import Finite.
Import ListNotations.
Open Scope R_scope.

(** First draw w, then x from the law m w. *)
Definition then_draw {W X : Type} (l : list (R * W)) (m : W -> list (R * X)) : list (R * X) :=
  flat_map (fun '(p, w) => map (fun '(q, x) => (p * q, x)) (m w)) l.

Lemma expect_then_draw {W X : Type} (l : list (R * W)) (m : W -> list (R * X)) f :
  expect (then_draw l m) f = expect l (fun w => expect (m w) f).
Proof.
  unfold then_draw. induction l as [| [p w] l IH]; cbn [flat_map expect]; [reflexivity |].
  rewrite expect_app, IH. f_equal. clear. induction (m w) as [| [q x] n IH]; simpl; [ring | rewrite IH; ring].
Qed.

Lemma then_draw_nonneg {W X : Type} (l : list (R * W)) (m : W -> list (R * X)) :
  weights_nonneg l -> (forall w, weights_nonneg (m w)) -> weights_nonneg (then_draw l m).
Proof.
  unfold weights_nonneg. intros Hl Hm. rewrite Forall_forall in *. intros qx Hin.
  apply in_flat_map in Hin as [[p w] [Hp Hin]]. apply in_map_iff in Hin as [[q x] [<- Hq]]. simpl.
  specialize (Hm w). rewrite Forall_forall in Hm. apply Rmult_le_pos; [exact (Hl _ Hp) | exact (Hm _ Hq)].
Qed.

(** What has no weight does not matter. *)
Lemma expect_almost_surely {W : Type} (l : list (R * W)) (g F : W -> R) (v : R) :
  weights_nonneg l -> (forall w, 0 <= g w) -> expect l g = 0 -> (forall w, g w = 0 -> F w = v) ->
  expect l F = v * expect l (fun _ => 1).
Proof.
  intros Hl Hg H0 HF. induction Hl as [| [p w] l Hp Hl IH]; simpl in *; [ring |].
  pose proof (expect_nonneg l g Hl Hg).
  pose proof (Rmult_le_pos _ _ Hp (Hg w)). rewrite IH by lra.
  destruct (Req_dec p 0) as [-> | Hne]; [ring |]. rewrite HF; [ring |].
  apply Rmult_eq_reg_l with p; [lra | exact Hne].
Qed.

Section Couplings.
  Context {A : Type}.
  Variable actions : finite_actions A.

  (** Sums over all actions, each taken once, are written as means. *)
  Definition each : list (R * A) :=
    map (fun a => (1, a)) (nodup (fun a b => decide (a = b)) (first_action actions :: other_actions actions)).

  Lemma each_nonneg : weights_nonneg each.
  Proof. unfold weights_nonneg, each. rewrite Forall_forall. intros pa Hin. apply in_map_iff in Hin as [a [<- _]]. simpl. lra. Qed.

  Lemma expect_by_each (p : list (R * A)) f : expect p f = expect each (fun a => f a * weight p a).
  Proof.
    rewrite (expect_by_weights (nodup (fun a b => decide (a = b)) (first_action actions :: other_actions actions)) p f).
    - unfold each. generalize (nodup (fun a b => decide (a = b)) (first_action actions :: other_actions actions)).
      intros L. induction L as [| a L IH]; simpl; [reflexivity |]. rewrite <- IH. simpl. ring.
    - apply NoDup_nodup.
    - intros pw _. apply nodup_In, all_listed.
  Qed.

  Lemma weight_nonneg (p : list (R * A)) a : weights_nonneg p -> 0 <= weight p a.
  Proof.
    intros Hp. apply expect_nonneg; [exact Hp |]. intros b. destruct (is_it a b); lra.
  Qed.

  (** TV(p, q) = 1/2 sum_a |p(a) - q(a)| *)
  Definition total_variation (p q : list (R * A)) : R := / 2 * expect each (fun a => Rabs (weight p a - weight q a)).

  Definition couples (c : list (R * (A * A))) (p q : list (R * A)) : Prop :=
    is_law c
    /\ (forall f, expect c (fun ab => f (fst ab)) = expect p f)
    /\ (forall f, expect c (fun ab => f (snd ab)) = expect q f).

  (** The probability that the two components differ. *)
  Definition parts (c : list (R * (A * A))) : R := expect c (fun ab => indicator (fst ab <> snd ab)).

  Section TwoLaws.
    Variables p q : list (R * A).
    Hypothesis p_law : is_law p.
    Hypothesis q_law : is_law q.

    Definition common (a : A) : R := Rmin (weight p a) (weight q a).
    Definition rest_p (a : A) : R := weight p a - common a.
    Definition rest_q (a : A) : R := weight q a - common a.

    (** With the weight that the two laws share both components are equal; what is left of p and of q is drawn apart. *)
    Definition maximal_coupling : list (R * (A * A)) :=
      then_draw each (fun a =>
        (common a, (a, a))
        :: then_draw each (fun b => [(rest_p a * rest_q b * / total_variation p q, (a, b))])).

    Lemma expect_maximal F :
      expect maximal_coupling F
      = expect each (fun a => common a * F (a, a)
          + expect each (fun b => rest_p a * rest_q b * / total_variation p q * F (a, b))).
    Proof.
      unfold maximal_coupling. rewrite expect_then_draw. apply expect_ext. intros a. cbn [expect]. f_equal.
      rewrite expect_then_draw. apply expect_ext. intros b. cbn [expect]. ring.
    Qed.

    Lemma rest_nonneg a : 0 <= rest_p a /\ 0 <= rest_q a /\ rest_p a * rest_q a = 0 /\ 0 <= common a.
    Proof.
      pose proof (weight_nonneg p a (proj1 p_law)). pose proof (weight_nonneg q a (proj1 q_law)).
      unfold rest_p, rest_q, common, Rmin. destruct (Rle_dec (weight p a) (weight q a)); repeat split; try lra.
    Qed.

    Lemma total_weight (l : list (R * A)) : is_law l -> expect each (weight l) = 1.
    Proof.
      intros Hl. rewrite <- (expect_const l 1 Hl), (expect_by_each l). apply expect_ext. intros a. ring.
    Qed.

    Lemma rests_total : expect each rest_p = total_variation p q /\ expect each rest_q = total_variation p q.
    Proof.
      assert (D : expect each rest_p - expect each rest_q = 0).
      { rewrite <- expect_minus. rewrite (expect_ext each _ (fun a => weight p a - weight q a)) by (intros; unfold rest_p, rest_q; ring).
        rewrite (expect_minus each (weight p) (weight q)), !total_weight by assumption. ring. }
      assert (E : expect each rest_p + expect each rest_q = 2 * total_variation p q).
      { unfold total_variation. rewrite <- expect_plus, <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. apply expect_ext. intros a.
        unfold rest_p, rest_q, common, Rmin. destruct (Rle_dec (weight p a) (weight q a)).
        - rewrite Rabs_left1 by lra. ring.
        - rewrite Rabs_pos_eq by lra. ring. }
      lra.
    Qed.

    Lemma total_variation_bounds : 0 <= total_variation p q <= 1.
    Proof.
      destruct rests_total as [<- _]. split.
      - apply expect_nonneg; [exact each_nonneg |]. intros a. apply rest_nonneg.
      - rewrite <- (total_weight p p_law). apply expect_le; [exact each_nonneg |]. intros a.
        pose proof (rest_nonneg a). unfold rest_p in *. lra.
    Qed.

    (** A rest that is drawn loses nothing: where the total variation is 0 there is no rest. *)
    Lemma rest_vanishes (r : A -> R) a :
      (forall b, 0 <= r b) -> expect each r = total_variation p q -> r a * (total_variation p q * / total_variation p q) = r a.
    Proof.
      intros Hr E. destruct (Req_dec (total_variation p q) 0) as [H0 | Hne].
      - assert (r a = 0) as ->; [| ring]. apply Rle_antisym; [| apply Hr].
        rewrite <- H0, <- E. rewrite <- (expect_surely a r), (expect_by_each (surely a) r).
        apply expect_le; [exact each_nonneg |]. intros b. rewrite <- (Rmult_1_r (r b)) at 2.
        apply Rmult_le_compat_l; [apply Hr |]. unfold weight, prob. rewrite expect_surely. destruct (is_it b a); lra.
      - rewrite Rinv_r by exact Hne. ring.
    Qed.

    Lemma maximal_first f : expect maximal_coupling (fun ab => f (fst ab)) = expect p f.
    Proof.
      rewrite expect_maximal, (expect_by_each p). apply expect_ext. intros a. cbn [fst].
      rewrite (expect_ext each _ (fun b => rest_p a * / total_variation p q * f a * rest_q b)) by (intros; ring).
      rewrite expect_scale. destruct rests_total as [Ep Eq]. rewrite Eq.
      pose proof (rest_vanishes rest_p a (fun b => proj1 (rest_nonneg b)) Ep) as V.
      replace (rest_p a * / total_variation p q * f a * total_variation p q)
        with (rest_p a * (total_variation p q * / total_variation p q) * f a) by ring.
      rewrite V. unfold rest_p. ring.
    Qed.

    Lemma maximal_second f : expect maximal_coupling (fun ab => f (snd ab)) = expect q f.
    Proof.
      rewrite expect_maximal, (expect_by_each q), (expect_plus each (fun a => common a * f (snd (a, a)))). cbn [snd].
      rewrite expect_swap, <- expect_plus. apply expect_ext. intros a.
      rewrite (expect_ext each _ (fun b => rest_q a * / total_variation p q * f a * rest_p b)) by (intros; ring).
      rewrite expect_scale. destruct rests_total as [Ep Eq]. rewrite Ep.
      pose proof (rest_vanishes rest_q a (fun b => proj1 (proj2 (rest_nonneg b))) Eq) as V.
      replace (rest_q a * / total_variation p q * f a * total_variation p q)
        with (rest_q a * (total_variation p q * / total_variation p q) * f a) by ring.
      rewrite V. unfold rest_q. ring.
    Qed.

    Lemma maximal_couples : couples maximal_coupling p q.
    Proof.
      split; [| split; [exact maximal_first | exact maximal_second]]. split.
      - apply then_draw_nonneg; [exact each_nonneg |]. intros a. constructor; [simpl; apply rest_nonneg |].
        apply then_draw_nonneg; [exact each_nonneg |]. intros b. constructor; [simpl | constructor].
        destruct (Req_dec (total_variation p q) 0) as [H0 | Hne].
        + replace (rest_p a) with 0; [lra |]. rewrite <- (rest_vanishes rest_p a (fun b => proj1 (rest_nonneg b)) (proj1 rests_total)).
          rewrite H0. ring.
        + pose proof total_variation_bounds. apply Rmult_le_pos; [apply Rmult_le_pos; apply rest_nonneg |].
          left. apply Rinv_0_lt_compat. lra.
      - rewrite (maximal_first (fun _ => 1)). apply p_law.
    Qed.

    (** No coupling parts with a smaller probability than the total variation ... *)
    Lemma total_variation_at_most_parts c : couples c p q -> total_variation p q <= parts c.
    Proof.
      intros [Hc [H1 H2]]. destruct rests_total as [<- _].
      set (up := fun a => if Rle_dec (weight p a) (weight q a) then 0 else 1).
      assert (E : expect each rest_p = expect c (fun ab => up (fst ab) - up (snd ab))).
      { rewrite (expect_minus c (fun ab => up (fst ab)) (fun ab => up (snd ab))), H1, H2, (expect_by_each p), (expect_by_each q), <- expect_minus.
        apply expect_ext. intros a. unfold up, rest_p, common, Rmin. destruct (Rle_dec _ _); ring. }
      rewrite E. apply expect_le; [apply Hc |]. intros [a b]. cbn [fst snd]. unfold indicator.
      destruct (decide (a <> b)) as [_ | H]; [unfold up; destruct (Rle_dec _ _), (Rle_dec _ _); lra |].
      assert (a = b) as -> by (apply NNPP; exact H). lra.
    Qed.

    (** ... and the maximal coupling parts with exactly that. *)
    Lemma maximal_parts : parts maximal_coupling = total_variation p q.
    Proof.
      unfold parts. rewrite expect_maximal. cbn [fst snd]. destruct rests_total as [Ep Eq].
      rewrite (expect_ext each _ rest_p); [exact Ep |]. intros a.
      rewrite (indicator_false (a <> a)) by (intros H; apply H; reflexivity).
      rewrite (expect_ext each _ (fun b => rest_p a * / total_variation p q * rest_q b)).
      - rewrite expect_scale, Eq. pose proof (rest_vanishes rest_p a (fun b => proj1 (rest_nonneg b)) Ep) as V. lra.
      - intros b. unfold indicator. destruct (decide (a <> b)) as [_ | H]; [ring |].
        assert (a = b) as <- by (apply NNPP; exact H).
        replace (rest_p a * / total_variation p q * rest_q a) with (rest_p a * rest_q a * / total_variation p q) by ring.
        replace (rest_p a * rest_q a) with 0 by (symmetry; apply rest_nonneg). ring.
    Qed.

    (** The draws of two worlds can be coupled so that they part with probability TV(p, q), and with no smaller probability. *)
    (* label: eq:cf_metric *)
    Theorem least_parting_is_total_variation :
      (exists c, couples c p q /\ parts c = total_variation p q) /\ forall c, couples c p q -> total_variation p q <= parts c.
    Proof.
      split; [exists maximal_coupling; split; [exact maximal_couples | exact maximal_parts] | exact total_variation_at_most_parts].
    Qed.

    (** TV(p, q) is the largest difference in probability of any event. *)
    (* label: eq:cf_metric *)
    Theorem total_variation_is_the_largest_difference :
      (forall E : A -> bool, Rabs (prob p E - prob q E) <= total_variation p q)
      /\ exists E : A -> bool, prob p E - prob q E = total_variation p q.
    Proof.
      destruct maximal_couples as [Hc [H1 H2]]. split.
      - intros E. unfold prob. rewrite <- H1, <- H2, <- expect_minus, <- maximal_parts.
        apply expect_abs; [apply Hc |]. intros [a b]. cbn [fst snd]. unfold indicator.
        destruct (decide (a <> b)) as [_ | H].
        + destruct (E a), (E b); apply Rabs_le; lra.
        + assert (a = b) as -> by (apply NNPP; exact H). rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
      - exists (fun a => if Rle_dec (weight p a) (weight q a) then false else true).
        unfold prob. rewrite (expect_by_each p), (expect_by_each q), <- expect_minus. destruct rests_total as [<- _]. apply expect_ext. intros a.
        unfold rest_p, common, Rmin. destruct (Rle_dec _ _); ring.
    Qed.
  End TwoLaws.

  (** Of two decisions that are certain there is one coupling. *)
  Lemma couples_surely c a b F : couples c (surely a) (surely b) -> expect c F = F (a, b).
  Proof.
    intros [Hc [H1 H2]].
    rewrite (expect_almost_surely c (fun ab => indicator (fst ab <> a) + indicator (snd ab <> b)) F (F (a, b)) (proj1 Hc)).
    - rewrite (proj2 Hc). ring.
    - intros ab. pose proof (indicator_bounds (fst ab <> a)). pose proof (indicator_bounds (snd ab <> b)). lra.
    - rewrite (expect_plus c (fun ab => indicator (fst ab <> a)) (fun ab => indicator (snd ab <> b))).
      rewrite (H1 (fun x => indicator (x <> a))), (H2 (fun x => indicator (x <> b))), !expect_surely.
      rewrite !indicator_false by (intros H; apply H; reflexivity). ring.
    - intros [x y] H. cbn [fst snd] in H. pose proof (indicator_bounds (x <> a)). pose proof (indicator_bounds (y <> b)).
      assert (x = a) as ->. { apply NNPP. intros Hne. rewrite (indicator_true _ Hne) in H. lra. }
      assert (y = b) as ->. { apply NNPP. intros Hne. rewrite (indicator_true _ Hne) in H. lra. }
      reflexivity.
  Qed.
End Couplings.
