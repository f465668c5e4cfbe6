(** * Finite sums, finite laws, and the maximum over finitely many actions *)

From Coq Require Import List Reals Lra Lia Classical_Prop ClassicalDedekindReals RelationClasses.
Import ListNotations.
Open Scope R_scope.

(** ** Decisions

    The classical real numbers decide every proposition; so events may be stated in words. *)

Definition decide (P : Prop) : {P} + {~ P} :=
  match sig_not_dec P with
  | left H => left (NNPP P H)
  | right H => right H
  end.

(** 1 if P, else 0. *)
Definition indicator (P : Prop) : R := if decide P then 1 else 0.

Lemma indicator_true (P : Prop) : P -> indicator P = 1.
Proof. intros H. unfold indicator. destruct (decide P); [reflexivity | contradiction]. Qed.

Lemma indicator_false (P : Prop) : ~ P -> indicator P = 0.
Proof. intros H. unfold indicator. destruct (decide P); [contradiction | reflexivity]. Qed.

Lemma indicator_bounds (P : Prop) : 0 <= indicator P <= 1.
Proof. unfold indicator. destruct (decide P); lra. Qed.

Lemma indicator_le (P Q : Prop) : (P -> Q) -> indicator P <= indicator Q.
Proof. intros H. unfold indicator. destruct (decide P), (decide Q); try lra. tauto. Qed.

Lemma abs_bounds x y : Rabs x <= y -> - y <= x <= y.
Proof. intros H. pose proof (Rle_abs x). pose proof (Rle_abs (- x)). rewrite Rabs_Ropp in *. lra. Qed.

(** ** Sums f 0 + ... + f (n-1) *)

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S m => sum m f + f m
  end.

Lemma sum_ext n f g : (forall i, f i = g i) -> sum n f = sum n g.
Proof. intros H; induction n as [| n IH]; simpl; [| rewrite IH, H]; reflexivity. Qed.

Lemma sum_le n f g : (forall i, f i <= g i) -> sum n f <= sum n g.
Proof. intros H; induction n as [| n IH]; simpl; [lra | specialize (H n); lra]. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [| n IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_scale n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [| n IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n as [| n IH]; [simpl; ring |]. rewrite S_INR; simpl; rewrite IH; ring. Qed.

Lemma sum_nonneg n f : (forall i, 0 <= f i) -> 0 <= sum n f.
Proof. intros H; induction n as [| n IH]; simpl; [lra | specialize (H n); lra]. Qed.

Lemma sum_swap n m (f : nat -> nat -> R) : sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [| n IH]; simpl.
  - induction m as [| m IHm]; simpl; [| rewrite <- IHm]; ring.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_abs n f : Rabs (sum n f) <= sum n (fun i => Rabs (f i)).
Proof.
  induction n as [| n IH]; simpl; [rewrite Rabs_R0; lra |].
  apply Rle_trans with (1 := Rabs_triang _ _). lra.
Qed.

(** The newest term first: f 0 + sum of the rest. *)
Lemma sum_first n f : sum (S n) f = f 0%nat + sum n (fun i => f (S i)).
Proof. induction n as [| n IH]; simpl in *; [ring | rewrite IH; ring]. Qed.

(** ** Powers of a discount *)

Lemma geometric g n : (1 - g) * sum n (fun i => g ^ i) = 1 - g ^ n.
Proof. induction n as [| n IH]; simpl; [ring |]. rewrite Rmult_plus_distr_l, IH. ring. Qed.

Lemma geometric_shift g n : sum n (fun i => g ^ S i) = g * sum n (fun i => g ^ i).
Proof. rewrite <- sum_scale. reflexivity. Qed.

Lemma geometric_le g n : 0 <= g < 1 -> sum n (fun i => g ^ i) <= / (1 - g).
Proof.
  intros Hg. apply Rmult_le_reg_l with (1 - g); [lra |].
  rewrite geometric, Rinv_r by lra. assert (0 <= g ^ n) by (apply pow_le; lra). lra.
Qed.

Lemma below_up_to_powers g c x y : 0 <= g < 1 -> 0 <= c -> (forall n, x <= y + g ^ n * c) -> x <= y.
Proof.
  intros Hg Hc H. apply Rnot_lt_le; intros Hlt.
  destruct (Req_dec c 0) as [-> | Hc0].
  { specialize (H 0%nat). lra. }
  destruct (pow_lt_1_zero g) with (y := (x - y) / c) as [N HN].
  - rewrite Rabs_pos_eq; lra.
  - apply Rdiv_lt_0_compat; lra.
  - specialize (HN N (le_n N)). specialize (H N).
    rewrite Rabs_pos_eq in HN by (apply pow_le; lra).
    apply Rmult_lt_compat_r with (r := c) in HN; [| lra].
    unfold Rdiv in HN. rewrite Rmult_assoc, Rinv_l in HN by lra. lra.
Qed.

(** Sequences whose tails shrink geometrically converge. *)
Lemma geometric_cauchy g c (u : nat -> R) :
  0 <= g < 1 -> 0 <= c -> (forall n m, Rabs (u (n + m)%nat - u n) <= g ^ n * c) -> Cauchy_crit u.
Proof.
  intros Hg Hc Hu eps Heps.
  destruct (pow_lt_1_zero g) with (y := eps / (2 * (c + 1))) as [N HN].
  - rewrite Rabs_pos_eq; lra.
  - apply Rdiv_lt_0_compat; lra.
  - exists N. intros n m Hn Hm. change (Rabs (u n - u m) < eps).
    specialize (HN N (le_n N)). rewrite Rabs_pos_eq in HN by (apply pow_le; lra).
    assert (Hsmall : g ^ N * (c + 1) < eps / 2).
    { apply Rmult_lt_compat_r with (r := c + 1) in HN; [| lra].
      replace (eps / (2 * (c + 1)) * (c + 1)) with (eps / 2) in HN by (field; lra). exact HN. }
    assert (0 <= g ^ N) by (apply pow_le; lra).
    pose proof (Hu N (n - N)%nat) as Cn. pose proof (Hu N (m - N)%nat) as Cm.
    replace (N + (n - N))%nat with n in Cn by lia. replace (N + (m - N))%nat with m in Cm by lia.
    rewrite Rabs_minus_sym in Cm.
    replace (u n - u m) with ((u n - u N) + (u N - u m)) by ring.
    apply Rle_lt_trans with (1 := Rabs_triang _ _). lra.
Qed.

(** Limits keep weak inequalities. *)
Lemma limit_close (u : nat -> R) (l y c : R) (N : nat) :
  Un_cv u l -> (forall n, (N <= n)%nat -> Rabs (u n - y) <= c) -> Rabs (l - y) <= c.
Proof.
  intros Hu H. apply Rnot_lt_le; intros Hlt.
  destruct (Hu (Rabs (l - y) - c)) as [M HM]; [lra |].
  specialize (HM (N + M)%nat ltac:(lia)). specialize (H (N + M)%nat ltac:(lia)).
  change (Rabs (u (N + M)%nat - l) < Rabs (l - y) - c) in HM.
  replace (l - y) with ((l - u (N + M)%nat) + (u (N + M)%nat - y)) in Hlt, HM by ring.
  pose proof (Rabs_triang (l - u (N + M)%nat) (u (N + M)%nat - y)).
  rewrite (Rabs_minus_sym l) in *. lra.
Qed.

Lemma limit_le (u : nat -> R) (l y : R) (g c : R) :
  0 <= g < 1 -> 0 <= c -> Un_cv u l -> (forall n, u n <= y + g ^ n * c) -> l <= y.
Proof.
  intros Hg Hc Hu H. apply Rnot_lt_le; intros Hlt.
  destruct (Hu ((l - y) / 2)) as [N HN]; [lra |].
  assert (L : l - (l - y) / 2 <= y); [| lra].
  apply below_up_to_powers with g c; [assumption .. |]. intros n.
  specialize (HN (N + n)%nat ltac:(lia)). specialize (H (N + n)%nat).
  change (Rabs (u (N + n)%nat - l) < (l - y) / 2) in HN. apply Rabs_def2 in HN as [_ HN].
  assert (g ^ (N + n) * c <= g ^ n * c); [| lra].
  rewrite pow_add. apply Rmult_le_compat_r; [assumption |].
  rewrite <- (Rmult_1_l (g ^ n)) at 2. apply Rmult_le_compat_r; [apply pow_le; lra |].
  rewrite <- (pow1 N). apply pow_incr. lra.
Qed.

Lemma equal_if_close x y : Rabs (x - y) <= 0 -> x = y.
Proof.
  intros H. destruct (Req_dec x y) as [E | E]; [assumption |].
  pose proof (Rabs_pos_lt (x - y) ltac:(lra)). lra.
Qed.

(** ** Finite laws: weights with outcomes *)

Section Laws.
  Context {W : Type}.

  (** E f *)
  Fixpoint expect (l : list (R * W)) (f : W -> R) : R :=
    match l with
    | [] => 0
    | (p, w) :: l => p * f w + expect l f
    end.

  Definition weights_nonneg (l : list (R * W)) : Prop := Forall (fun pw => 0 <= fst pw) l.
  Definition is_law (l : list (R * W)) : Prop := weights_nonneg l /\ expect l (fun _ => 1) = 1.

  (** P(E) *)
  Definition prob (l : list (R * W)) (E : W -> bool) : R := expect l (fun w => if E w then 1 else 0).

  Lemma expect_ext l f g : (forall w, f w = g w) -> expect l f = expect l g.
  Proof. intros H; induction l as [| [p w] l IH]; simpl; [| rewrite H, IH]; reflexivity. Qed.

  Lemma expect_le l f g : weights_nonneg l -> (forall w, f w <= g w) -> expect l f <= expect l g.
  Proof.
    intros Hl H; induction Hl as [| [p w] l Hp Hl IH]; simpl in *; [lra |].
    apply Rplus_le_compat; [apply Rmult_le_compat_l; auto | assumption].
  Qed.

  (** Only outcomes that are listed matter. *)
  Lemma expect_le_listed l f g :
    weights_nonneg l -> (forall p w, In (p, w) l -> f w <= g w) -> expect l f <= expect l g.
  Proof.
    intros Hl H; induction Hl as [| [p w] l Hp Hl IH]; simpl in *; [lra |].
    apply Rplus_le_compat; [apply Rmult_le_compat_l; [assumption | apply (H p); auto] |].
    apply IH. intros q v Hin. apply (H q). auto.
  Qed.

  Lemma expect_plus l f g : expect l (fun w => f w + g w) = expect l f + expect l g.
  Proof. induction l as [| [p w] l IH]; simpl; [| rewrite IH]; ring. Qed.

  Lemma expect_minus l f g : expect l (fun w => f w - g w) = expect l f - expect l g.
  Proof. induction l as [| [p w] l IH]; simpl; [| rewrite IH]; ring. Qed.

  Lemma expect_scale l c f : expect l (fun w => c * f w) = c * expect l f.
  Proof. induction l as [| [p w] l IH]; simpl; [| rewrite IH]; ring. Qed.

  Lemma expect_const l c : is_law l -> expect l (fun _ => c) = c.
  Proof.
    intros [_ H]. rewrite (expect_ext l (fun _ => c) (fun _ => c * 1)) by (intros; ring).
    rewrite expect_scale, H. ring.
  Qed.

  Lemma expect_le_const l f c : is_law l -> (forall w, f w <= c) -> expect l f <= c.
  Proof. intros Hl H. rewrite <- (expect_const l c Hl). apply expect_le; [apply Hl | assumption]. Qed.

  Lemma expect_ge_const l f c : is_law l -> (forall w, c <= f w) -> c <= expect l f.
  Proof. intros Hl H. rewrite <- (expect_const l c Hl). apply expect_le; [apply Hl | assumption]. Qed.

  Lemma expect_close l f g c : is_law l -> (forall w, Rabs (f w - g w) <= c) -> Rabs (expect l f - expect l g) <= c.
  Proof.
    intros Hl H. rewrite <- expect_minus. apply Rabs_le. split.
    - apply expect_ge_const; [assumption |]. intros w. specialize (H w).
      pose proof (Rle_abs (- (f w - g w))). rewrite Rabs_Ropp in *. lra.
    - apply expect_le_const; [assumption |]. intros w. specialize (H w).
      pose proof (Rle_abs (f w - g w)). lra.
  Qed.

  Lemma expect_abs l f g : weights_nonneg l -> (forall w, Rabs (f w) <= g w) -> Rabs (expect l f) <= expect l g.
  Proof.
    intros Hl H. apply Rabs_le. split.
    - rewrite <- (Rmult_1_l (expect l g)), <- Ropp_mult_distr_l_reverse, <- expect_scale.
      apply expect_le; [exact Hl |]. intros w. specialize (H w). apply abs_bounds in H. lra.
    - apply expect_le; [exact Hl |]. intros w. specialize (H w). apply abs_bounds in H. lra.
  Qed.

  Lemma prob_le l E E' : weights_nonneg l -> (forall w, E w = true -> E' w = true) -> prob l E <= prob l E'.
  Proof.
    intros Hl H. apply expect_le; [assumption |]. intros w. specialize (H w).
    destruct (E w); [rewrite H by reflexivity; lra | destruct (E' w); lra].
  Qed.

  (** The law that sits on one outcome. *)
  Definition surely (w : W) : list (R * W) := [(1, w)].

  Lemma surely_is_law w : is_law (surely w).
  Proof. split; [constructor; simpl; [lra | constructor] | simpl; ring]. Qed.

  Lemma expect_surely w f : expect (surely w) f = f w.
  Proof. simpl. ring. Qed.
End Laws.

Lemma expect_app {W : Type} (l l' : list (R * W)) f : expect (l ++ l') f = expect l f + expect l' f.
Proof. induction l as [| [p w] l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma expect_nonneg {W : Type} (l : list (R * W)) f : weights_nonneg l -> (forall w, 0 <= f w) -> 0 <= expect l f.
Proof. intros Hl Hf. induction Hl as [| [p w] l Hp Hl IH]; simpl in *; [lra |]. pose proof (Rmult_le_pos _ _ Hp (Hf w)). lra. Qed.

Lemma expect_discounted_sum {W : Type} (l : list (R * W)) g n (h : nat -> W -> R) :
  expect l (fun w => sum n (fun t => g ^ t * h t w)) = sum n (fun t => g ^ t * expect l (h t)).
Proof.
  induction n as [| n IH]; simpl.
  - rewrite (expect_ext l _ (fun _ => 0 * 1)) by (intros; ring). rewrite expect_scale. ring.
  - rewrite (expect_plus l (fun w => sum n (fun t => g ^ t * h t w))), IH, expect_scale. reflexivity.
Qed.

(** E f(w_1, ..., w_n) for n independent draws. *)
Fixpoint draws {W : Type} (l : list (R * W)) (n : nat) (f : list W -> R) : R :=
  match n with
  | O => f []
  | S m => expect l (fun w => draws l m (fun ws => f (w :: ws)))
  end.

Lemma draws_ext {W : Type} (l : list (R * W)) n : forall f g, (forall ws, f ws = g ws) -> draws l n f = draws l n g.
Proof.
  induction n as [| n IH]; intros f g H; simpl; [apply H |].
  apply expect_ext. intros w. apply IH. intros ws. apply H.
Qed.

Lemma draws_scale {W : Type} (l : list (R * W)) c n : forall f, draws l n (fun ws => c * f ws) = c * draws l n f.
Proof.
  induction n as [| n IH]; intros f; simpl; [reflexivity |]. rewrite <- expect_scale.
  apply expect_ext. intros w. apply (IH (fun ws => f (w :: ws))).
Qed.

Lemma draws_const {W : Type} (l : list (R * W)) n c : is_law l -> draws l n (fun _ => c) = c.
Proof.
  intros Hl. induction n as [| n IH]; simpl; [reflexivity |].
  rewrite (expect_ext l _ (fun _ => c)) by (intros; exact IH). apply expect_const, Hl.
Qed.

Lemma draws_le {W : Type} (l : list (R * W)) n :
  weights_nonneg l -> forall f g, (forall ws, length ws = n -> f ws <= g ws) -> draws l n f <= draws l n g.
Proof.
  intros Hl. induction n as [| n IH]; intros f g H; simpl; [apply H; reflexivity |].
  apply expect_le; [exact Hl |]. intros w. apply IH. intros ws E. apply H. simpl. rewrite E. reflexivity.
Qed.

Lemma expect_swap {V W : Type} (l : list (R * V)) (m : list (R * W)) (f : V -> W -> R) :
  expect l (fun v => expect m (fun w => f v w)) = expect m (fun w => expect l (fun v => f v w)).
Proof.
  induction l as [| [p v] l IH]; simpl.
  - induction m as [| [q w] m IHm]; simpl; [| rewrite <- IHm]; ring.
  - rewrite IH, <- expect_scale, <- expect_plus. reflexivity.
Qed.

(** ** Equality of laws

    Two lists of weights are the same law when every event has the same probability: order, splitting and zero weights do not
    matter.  It is enough to compare the weight of each action, and then all means agree. *)

Definition same_law {A : Type} (l m : list (R * A)) : Prop := forall E : A -> bool, prob l E = prob m E.

Global Instance same_law_equivalence {A : Type} : Equivalence (@same_law A).
Proof.
  split.
  - intros l E. reflexivity.
  - intros l m H E. symmetry. apply H.
  - intros l m n H H' E. rewrite H. apply H'.
Qed.

Section SameLaw.
  Context {A : Type}.

  Definition is_it (a b : A) : bool := if decide (a = b) then true else false.

  (** The weight of one action. *)
  Definition weight (l : list (R * A)) (a : A) : R := prob l (is_it a).

  Let total (L : list A) (f : A -> R) : R := fold_right (fun a t => f a + t) 0 L.

  Lemma total_plus L f g : total L (fun a => f a + g a) = total L f + total L g.
  Proof. induction L as [| a L IH]; simpl; [| rewrite IH]; ring. Qed.

  Lemma total_elsewhere L b (f : A -> R) : ~ In b L -> total L (fun a => f a * (if is_it a b then 1 else 0)) = 0.
  Proof.
    induction L as [| a L IH]; intros Hb; simpl in *; [reflexivity |].
    rewrite IH by tauto. unfold is_it. destruct (decide (a = b)); [tauto | ring].
  Qed.

  Lemma total_picks L b (f : A -> R) :
    NoDup L -> In b L -> total L (fun a => f a * (if is_it a b then 1 else 0)) = f b.
  Proof.
    induction 1 as [| a L Ha HL IH]; intros Hb; simpl in *; [contradiction |].
    destruct (decide (a = b)) as [-> | Hne].
    - rewrite total_elsewhere by exact Ha. unfold is_it. destruct (decide (b = b)); [ring | contradiction].
    - rewrite IH by tauto. unfold is_it at 1. destruct (decide (a = b)); [contradiction | ring].
  Qed.

  (** E f is the sum of f(a) times the weight of a. *)
  Lemma expect_by_weights (L : list A) (l : list (R * A)) f :
    NoDup L -> (forall pw, In pw l -> In (snd pw) L) -> expect l f = total L (fun a => f a * weight l a).
  Proof.
    intros HL. unfold weight, prob. induction l as [| [p b] l IH]; intros Hin; simpl.
    - clear. induction L as [| a L IH]; simpl; [reflexivity |]. rewrite <- IH. ring.
    - rewrite IH by (intros; apply Hin; simpl; auto).
      transitivity (total L (fun a => (p * f a) * (if is_it a b then 1 else 0))
                    + total L (fun a => f a * expect l (fun w => if is_it a w then 1 else 0))).
      + rewrite (total_picks L b (fun a => p * f a) HL (Hin (p, b) (or_introl eq_refl))). reflexivity.
      + rewrite <- total_plus. unfold total. clear. induction L as [| a L IH]; simpl; [reflexivity |].
        rewrite IH. ring.
  Qed.

  Lemma same_weights_same_means (l m : list (R * A)) f : (forall a, weight l a = weight m a) -> expect l f = expect m f.
  Proof.
    intros H. set (L := nodup (fun a b => decide (a = b)) (map snd l ++ map snd m)).
    assert (HL : NoDup L) by apply NoDup_nodup.
    assert (Hin : forall l', In l' [l; m] -> forall pw, In pw l' -> In (snd pw) L).
    { intros l' Hl' pw Hpw. apply nodup_In, in_app_iff.
      destruct Hl' as [<- | [<- | []]]; [left | right]; apply in_map; exact Hpw. }
    rewrite (expect_by_weights L l f HL), (expect_by_weights L m f HL) by (apply Hin; simpl; auto).
    unfold total. clear - H. induction L as [| a L IH]; simpl; [reflexivity |]. rewrite IH, H. reflexivity.
  Qed.

  Lemma same_law_means (l m : list (R * A)) f : same_law l m -> expect l f = expect m f.
  Proof. intros H. apply same_weights_same_means. intros a. apply H. Qed.

  Lemma same_law_by_weights (l m : list (R * A)) : same_law l m <-> forall a, weight l a = weight m a.
  Proof.
    split; intros H.
    - intros a. apply H.
    - intros E. apply same_weights_same_means, H.
  Qed.
End SameLaw.

Lemma constant_limit c : Un_cv (fun _ => c) c.
Proof.
  intros eps Heps. exists O. intros n _. change (Rabs (c - c) < eps).
  rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. exact Heps.
Qed.

Lemma expect_limit {W : Type} (l : list (R * W)) (f : nat -> W -> R) (g : W -> R) :
  (forall w, Un_cv (fun n => f n w) (g w)) -> Un_cv (fun n => expect l (f n)) (expect l g).
Proof.
  intros H. induction l as [| [p w] l IH]; simpl; [apply constant_limit |].
  apply (CV_plus (fun n => p * f n w) (fun n => expect l (f n))); [| exact IH].
  apply (CV_mult (fun _ => p) (fun n => f n w)); [apply constant_limit | apply H].
Qed.

(** ** The best of finitely many actions *)

Section Argmax.
  Context {A : Type}.

  (** The first maximiser of q in the list [candidate :: others]. *)
  Fixpoint argmax (q : A -> R) (candidate : A) (others : list A) : A :=
    match others with
    | [] => candidate
    | a :: others => argmax q (if Rlt_dec (q candidate) (q a) then a else candidate) others
    end.

  Lemma argmax_in q others : forall c, In (argmax q c others) (c :: others).
  Proof.
    induction others as [| a others IH]; intros c; simpl; [auto |].
    destruct (Rlt_dec (q c) (q a)); [destruct (IH a) as [E | E] | destruct (IH c) as [E | E]];
      try rewrite <- E; auto.
  Qed.

  Lemma argmax_best q others : forall c a, In a (c :: others) -> q a <= q (argmax q c others).
  Proof.
    induction others as [| b others IH]; intros c a Ha; simpl in *.
    - destruct Ha as [-> | []]. lra.
    - destruct (Rlt_dec (q c) (q b)) as [Hlt | Hge].
      + destruct Ha as [-> | Ha]; [| apply IH; exact Ha].
        apply Rle_trans with (q b); [lra | apply IH; left; reflexivity].
      + destruct Ha as [-> | [-> | Ha]].
        * apply IH; left; reflexivity.
        * apply Rle_trans with (q c); [lra | apply IH; left; reflexivity].
        * apply IH; right; exact Ha.
  Qed.
End Argmax.

Record finite_actions (A : Type) : Type := {
  first_action : A;
  other_actions : list A;
  all_listed : forall a, In a (first_action :: other_actions)
}.

Section Greedy.
  Context {A : Type}.
  Variable actions : finite_actions A.

  (** The greedy action; ties go to the action listed first. *)
  Definition greedy (q : A -> R) : A := argmax q (first_action A actions) (other_actions A actions).

  (** max_a q(a) *)
  Definition best (q : A -> R) : R := q (greedy q).

  Lemma greedy_best q a : q a <= best q.
  Proof. apply argmax_best, all_listed. Qed.

  Lemma best_close f g c : (forall a, Rabs (f a - g a) <= c) -> Rabs (best f - best g) <= c.
  Proof.
    intros H. unfold best. apply Rabs_le. split.
    - pose proof (greedy_best f (greedy g)). unfold best in *.
      specialize (H (greedy g)). pose proof (Rle_abs (- (f (greedy g) - g (greedy g)))). rewrite Rabs_Ropp in *. lra.
    - pose proof (greedy_best g (greedy f)). unfold best in *.
      specialize (H (greedy f)). pose proof (Rle_abs (f (greedy f) - g (greedy f))). lra.
  Qed.

  (** Acting greedily on scores that are off by at most c loses at most 2 c. *)
  Lemma greedy_loss q score c : (forall a, Rabs (score a - q a) <= c) -> best q - q (greedy score) <= 2 * c.
  Proof.
    intros H. pose proof (greedy_best score (greedy q)) as Hg. unfold best in *.
    pose proof (H (greedy q)) as H1. pose proof (H (greedy score)) as H2.
    pose proof (Rle_abs (- (score (greedy q) - q (greedy q)))). rewrite Rabs_Ropp in *.
    pose proof (Rle_abs (score (greedy score) - q (greedy score))). lra.
  Qed.

  Lemma best_le q c : (forall a, q a <= c) -> best q <= c.
  Proof. intros H. apply H. Qed.

  Lemma expect_le_best l q : is_law l -> expect l q <= best q.
  Proof. intros Hl. apply expect_le_const; [assumption | apply greedy_best]. Qed.
End Greedy.

Arguments first_action {A}.
Arguments other_actions {A}.
Arguments all_listed {A}.
