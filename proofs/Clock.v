(** * thm:sr_policy needs a stationary structural model, not only stationary kernels

    C13, X11.  States (X, W), levels 0 and 1 with probability 1/2, gamma = 9/10.  The next W is the noise U = +-1 at level 1 and
    c_t U at level 0, c = (-, -, +, +) with period 4; at each level the law of the next state given state and action does not
    change with time.  Actions: "renew" sets the next X to the next W and costs 1/2; "guess b" earns 1 if X = b, else -1; "safe" earns 3/10.
    A fair rule that counts steps earns 7.95.  Every rule that reads only the current states of both worlds, randomised or not,
    earns at most 7.7025, and one earns that. *)

From Coq Require Import List Reals Lra Lia Bool.
From Counterfair Require Import Finite.
Import ListNotations.
Open Scope R_scope.

Inductive move : Set := renew | guess (b : bool) | safe.

(** X and W in both worlds. *)
Record both : Set := { x_0 : bool; x_1 : bool; w_0 : bool; w_1 : bool }.

(** t mod 4, counted from t = 1 as 0; does the *next* W agree between the worlds? *)
Inductive phase : Set := one | two | three | four.
Definition after (f : phase) : phase := match f with one => two | two => three | three => four | four => one end.
Definition agree_next (f : phase) : bool := match f with two | three => true | _ => false end.

Definition next_w (f : phase) (level u : bool) : bool := if level then u else if agree_next f then u else negb u.

(** At each level, the next W is a fair coin, at all times. *)
Definition coin : list (R * bool) := [(1/2, true); (1/2, false)].

(* label: thm:sr_policy *)
Theorem kernels_are_stationary (f f' : phase) (level : bool) (E : bool -> bool) :
  prob coin (fun u => E (next_w f level u)) = prob coin (fun u => E (next_w f' level u)).
Proof. unfold prob, coin, next_w. destruct f, f', level; simpl; ring. Qed.

Definition next (f : phase) (s : both) (a : move) (u : bool) : both :=
  let w0 := next_w f false u in let w1 := next_w f true u in
  match a with
  | renew => {| x_0 := w0; x_1 := w1; w_0 := w0; w_1 := w1 |}
  | _ => {| x_0 := x_0 s; x_1 := x_1 s; w_0 := w0; w_1 := w1 |}
  end.

(** The reward averaged over the two levels. *)
Definition earns (s : both) (a : move) : R :=
  match a with
  | renew => - (1/2)
  | guess b => 1/2 * (if eqb (x_0 s) b then 1 else -1) + 1/2 * (if eqb (x_1 s) b then 1 else -1)
  | safe => 3/10
  end.

(** n steps of a rule that may read the phase. *)
Fixpoint value (g : phase -> both -> list (R * move)) (n : nat) (f : phase) (s : both) : R :=
  match n with
  | O => 0
  | S m => expect (g f s) (fun a => earns s a + 9/10 * expect coin (fun u => value g m (after f) (next f s a u)))
  end.

(** At t = 1, X = W, and the worlds disagree. *)
Definition first (u : bool) : both := {| x_0 := negb u; x_1 := u; w_0 := negb u; w_1 := u |}.
Definition J_clock (g : phase -> both -> list (R * move)) (n : nat) : R := expect coin (fun u => value g n one (first u)).

Definition agreeing (s : both) : bool := eqb (x_0 s) (x_1 s).

Lemma earns_at_most s a : earns s a <= 1.
Proof. destruct a as [| b |]; simpl; try lra. destruct (eqb (x_0 s) b), (eqb (x_1 s) b); lra. Qed.

Lemma earns_disagreeing s a : agreeing s = false -> earns s a <= match a with renew => - (1/2) | _ => 3/10 end.
Proof.
  destruct s as [[] [] w0 w1]; unfold agreeing; simpl; intros E; try discriminate; destruct a as [| [] |]; simpl; lra.
Qed.

Lemma coin_expect (h : bool -> R) : expect coin h = 1/2 * h true + 1/2 * h false.
Proof. unfold coin. simpl. ring. Qed.

Lemma law_split (l : list (R * move)) (h : move -> R) A B :
  is_law l -> h renew <= A -> (forall a, a <> renew -> h a <= B) ->
  let r := expect l (fun a => match a with renew => 1 | _ => 0 end) in
  0 <= r <= 1 /\ expect l h <= r * A + (1 - r) * B.
Proof.
  intros Hl HA HB r. split.
  - split; [apply expect_ge_const | apply expect_le_const]; try exact Hl; intros []; lra.
  - apply Rle_trans with (expect l (fun a => (A - B) * (match a with renew => 1 | _ => 0 end) + B)).
    + apply expect_le; [apply Hl |]. intros a. destruct a as [| b |]; [lra | |]; rewrite Rmult_0_r, Rplus_0_l; apply HB; discriminate.
    + rewrite (expect_plus l _ (fun _ => B)), expect_scale, expect_const by exact Hl. fold r. lra.
Qed.

Section AnyRule.
  Variable g : phase -> both -> list (R * move).
  Hypothesis g_laws : forall f s, is_law (g f s).

  Lemma value_at_most_ten n : forall f s, value g n f s <= 10.
  Proof.
    induction n as [| n IH]; intros f s; cbn [value]; [lra |].
    apply expect_le_const; [apply g_laws |]. intros a. rewrite coin_expect. pose proof (earns_at_most s a).
    pose proof (IH (after f) (next f s a true)). pose proof (IH (after f) (next f s a false)). lra.
  Qed.

  (** While the worlds disagree about X. *)
  Definition bound (f : phase) : R := match f with one => 795/100 | two => 85/10 | three => 85/10 | four => 7455/1000 end.

  Lemma kept f s a u : a <> renew -> agreeing (next f s a u) = agreeing s.
  Proof. destruct a; intros H; [contradiction | reflexivity | reflexivity]. Qed.

  Lemma renewed f s u : agreeing (next f s renew u) = agree_next f.
  Proof. destruct f, u; reflexivity. Qed.

  Lemma value_disagreeing n : forall f s, agreeing s = false -> value g n f s <= bound f.
  Proof.
    induction n as [| n IH]; intros f s Hs; [destruct f; simpl; lra |]. cbn [value].
    apply expect_le_const; [apply g_laws |]. intros a. rewrite coin_expect. pose proof (earns_disagreeing s a Hs) as He.
    pose proof (value_at_most_ten n (after f) (next f s a true)). pose proof (value_at_most_ten n (after f) (next f s a false)).
    assert (K : a <> renew -> forall u, value g n (after f) (next f s a u) <= bound (after f))
      by (intros Ha u; apply IH; rewrite kept; assumption).
    assert (D : agree_next f = false -> forall u, value g n (after f) (next f s renew u) <= bound (after f))
      by (intros Hf u; apply IH; rewrite renewed; exact Hf).
    destruct a as [| b |].
    - destruct (agree_next f) eqn:Ef.
      + destruct f; try discriminate; cbn [bound after] in *; lra.
      + pose proof (D eq_refl true). pose proof (D eq_refl false). destruct f; try discriminate; cbn [bound after] in *; lra.
    - pose proof (K ltac:(discriminate) true). pose proof (K ltac:(discriminate) false).
      destruct f; cbn [bound after] in *; lra.
    - pose proof (K ltac:(discriminate) true). pose proof (K ltac:(discriminate) false).
      destruct f; cbn [bound after] in *; lra.
  Qed.

  Definition renews (f : phase) (s : both) : R := expect (g f s) (fun a => match a with renew => 1 | _ => 0 end).

  (** At t = 2: 8.5 if the rule renews, 7.95 if it waits. *)
  Lemma value_at_two n s : agreeing s = false -> value g (S n) two s <= 795/100 + 55/100 * renews two s /\ 0 <= renews two s <= 1.
  Proof.
    intros Hs. cbn [value].
    destruct (law_split (g two s) (fun a => earns s a + 9/10 * expect coin (fun u => value g n three (next two s a u)))
                (85/10) (795/100) (g_laws two s)) as [Hr L].
    - rewrite coin_expect. simpl earns.
      pose proof (value_at_most_ten n three (next two s renew true)). pose proof (value_at_most_ten n three (next two s renew false)). lra.
    - intros a Ha. rewrite coin_expect. pose proof (earns_disagreeing s a Hs).
      assert (E : forall u, value g n three (next two s a u) <= 85/10)
        by (intros u; apply (value_disagreeing n three); rewrite kept; assumption).
      pose proof (E true). pose proof (E false). destruct a; [contradiction | lra | lra].
    - fold (renews two s) in Hr, L. split; [| exact Hr]. cbn [after]. lra.
  Qed.
End AnyRule.

(** Every rule that does not read the phase, randomised or not, over every horizon. *)
(* label: thm:sr_policy *)
Theorem stationary_rules_earn_at_most (rule : both -> list (R * move)) (n : nat) :
  (forall s, is_law (rule s)) -> J_clock (fun _ => rule) (S (S n)) <= 77025/10000.
Proof.
  intros Hrule. set (g := fun _ : phase => rule). assert (Hg : forall f s, is_law (g f s)) by (intros; apply Hrule).
  set (other := fun u => {| x_0 := negb u; x_1 := u; w_0 := u; w_1 := negb u |}).
  set (a := fun u => renews g two (first u)).
  assert (Ha : forall u, 0 <= a u <= 1) by (intros u; apply (value_at_two g Hg n (first u)); destruct u; reflexivity).
  assert (Hsame : forall u, value g (S n) two (first u) <= 795/100 + 55/100 * a u)
    by (intros u; apply (value_at_two g Hg n (first u)); destruct u; reflexivity).
  assert (Hother : forall u, value g (S n) two (other u) <= 85/10)
    by (intros u; apply (value_disagreeing g Hg (S n) two); destruct u; reflexivity).
  assert (V : forall u, value g (S (S n)) one (first u)
              <= a u * (- (1/2) + 9/10 * (1/2 * (795/100 + 55/100 * a true) + 1/2 * (795/100 + 55/100 * a false)))
                 + (1 - a u) * (3/10 + 9/10 * (1/2 * (795/100 + 55/100 * a u) + 1/2 * (85/10)))).
  { intros u.
    destruct (law_split (g one (first u)) (fun m => earns (first u) m + 9/10 * expect coin (fun v => value g (S n) two (next one (first u) m v)))
                (- (1/2) + 9/10 * (1/2 * (795/100 + 55/100 * a true) + 1/2 * (795/100 + 55/100 * a false)))
                (3/10 + 9/10 * (1/2 * (795/100 + 55/100 * a u) + 1/2 * (85/10))) (Hg one (first u))) as [_ L].
    - rewrite coin_expect. change (next one (first u) renew true) with (first true).
      change (next one (first u) renew false) with (first false). pose proof (Hsame true). pose proof (Hsame false). simpl earns. lra.
    - intros m Hm. rewrite coin_expect. pose proof (earns_disagreeing (first u) m ltac:(destruct u; reflexivity)).
      assert (E : next one (first u) m true = (if u then first u else other u)
                  /\ next one (first u) m false = (if u then other u else first u))
        by (destruct m; [contradiction | |]; destruct u; split; reflexivity).
      destruct E as [-> ->]. pose proof (Hsame u). pose proof (Hother u). destruct m; [contradiction | |]; destruct u; lra.
    - exact L. }
  unfold J_clock. rewrite coin_expect. fold g. pose proof (V true) as Vt. pose proof (V false) as Vf.
  pose proof (Ha true) as At. pose proof (Ha false) as Af. revert Vt Vf At Af. generalize (a true), (a false).
  intros p q Vt Vf Hp Hq.
  assert (p * p <= p * 1) by (apply Rmult_le_compat_l; lra). assert (q * q <= q * 1) by (apply Rmult_le_compat_l; lra).
  assert (p * q <= p * 1) by (apply Rmult_le_compat_l; lra). assert (p * q <= 1 * q) by (apply Rmult_le_compat_r; lra).
  assert (0 <= p * p) by (apply Rmult_le_pos; lra). assert (0 <= q * q) by (apply Rmult_le_pos; lra). lra.
Qed.

(** ** Both values are attained *)

Definition when_agreeing (s : both) (otherwise : move) : list (R * move) :=
  surely (if agreeing s then guess (x_1 s) else otherwise).

(** Renew at the second step of the cycle. *)
Definition counts_steps (f : phase) (s : both) : list (R * move) := when_agreeing s (match f with two => renew | _ => safe end).

(** Reads both worlds only: renew where W agrees, or where W differs from X. *)
Definition reads_worlds (s : both) : list (R * move) :=
  when_agreeing s (if eqb (w_0 s) (w_1 s) then renew else if eqb (w_1 s) (x_1 s) then safe else renew).

Lemma value_agreeing (other : phase -> both -> move) n : forall f s,
  agreeing s = true -> value (fun f s => when_agreeing s (other f s)) n f s = 10 * (1 - (9/10) ^ n).
Proof.
  induction n as [| n IH]; intros f s Hs; cbn [value pow]; [ring |].
  unfold when_agreeing at 1. rewrite Hs, expect_surely, coin_expect.
  assert (E : earns s (guess (x_1 s)) = 1).
  { unfold agreeing in Hs. apply eqb_prop in Hs. simpl. rewrite Hs, eqb_reflx. lra. }
  rewrite E, !IH by (exact Hs). field.
Qed.

(* label: thm:sr_policy *)
Theorem counting_steps_earns_more n : J_clock counts_steps (S (S n)) = 795/100 - 81/10 * (9/10) ^ n.
Proof.
  unfold J_clock. rewrite coin_expect.
  assert (V : forall u, value counts_steps (S (S n)) one (first u) = 795/100 - 81/10 * (9/10) ^ n); [| rewrite !V; lra].
  intros u.
  assert (two_step : forall s, agreeing s = false -> value counts_steps (S n) two s = - (1/2) + 9/10 * (10 * (1 - (9/10) ^ n))).
  { intros s Hs. cbn [value]. unfold counts_steps at 1, when_agreeing. rewrite Hs, expect_surely, coin_expect.
    unfold counts_steps. rewrite !(value_agreeing (fun f _ => match f with two => renew | _ => safe end)) by reflexivity.
    simpl earns. field. }
  change (value counts_steps (S (S n)) one (first u)) with
    (expect (counts_steps one (first u)) (fun a => earns (first u) a + 9/10 * expect coin (fun v => value counts_steps (S n) two (next one (first u) a v)))).
  replace (counts_steps one (first u)) with (surely safe) by (destruct u; reflexivity).
  rewrite expect_surely, coin_expect, !two_step by (destruct u; reflexivity). simpl earns. field.
Qed.

(* label: thm:sr_policy *)
Theorem a_stationary_rule_earns_the_bound n : J_clock (fun _ => reads_worlds) (S (S (S n))) = 77025/10000 - 729/100 * (9/10) ^ n.
Proof.
  set (g := fun _ : phase => reads_worlds).
  set (otherwise := fun (_ : phase) (s : both) =>
         if eqb (w_0 s) (w_1 s) then renew else if eqb (w_1 s) (x_1 s) then safe else renew).
  assert (Agree : forall m f s, agreeing s = true -> value g m f s = 10 * (1 - (9/10) ^ m))
    by (intros m f s Hs; exact (value_agreeing otherwise m f s Hs)).
  assert (Step : forall m f s, value g (S m) f s
            = expect (reads_worlds s) (fun a => earns s a + 9/10 * expect coin (fun v => value g m (after f) (next f s a v))))
    by reflexivity.
  assert (Renew : forall m f s, reads_worlds s = surely renew -> agree_next f = true ->
            value g (S m) f s = - (1/2) + 9/10 * (10 * (1 - (9/10) ^ m))).
  { intros m f s Hs Hf. rewrite Step, Hs, expect_surely, coin_expect, !Agree by (rewrite renewed; exact Hf). simpl earns. field. }
  assert (Safe : forall m f s, reads_worlds s = surely safe ->
            value g (S m) f s = 3/10 + 9/10 * (1/2 * value g m (after f) (next f s safe true) + 1/2 * value g m (after f) (next f s safe false))).
  { intros m f s Hs. rewrite Step, Hs, expect_surely, coin_expect. reflexivity. }
  assert (V : forall u, value g (S (S (S n))) one (first u) = 77025/10000 - 729/100 * (9/10) ^ n).
  { intros u. rewrite (Safe _ one (first u)) by (destruct u; reflexivity). cbn [after].
    assert (T : forall v, value g (S n) three (next two (first u) safe v) = - (1/2) + 9/10 * (10 * (1 - (9/10) ^ n)))
      by (intros v; apply Renew; destruct u, v; reflexivity).
    assert (Stay : value g (S (S n)) two (first u) = 3/10 + 9/10 * (- (1/2) + 9/10 * (10 * (1 - (9/10) ^ n))))
      by (rewrite (Safe _ two (first u)) by (destruct u; reflexivity); cbn [after]; rewrite !T; field).
    assert (Move : value g (S (S n)) two (next one (first u) safe (negb u)) = - (1/2) + 9/10 * (10 * (1 - (9/10) ^ S n)))
      by (apply Renew; destruct u; reflexivity).
    cbn [pow] in Move. destruct u; simpl negb in Move; [change (next one (first true) safe true) with (first true) |
      change (next one (first false) safe false) with (first false)]; rewrite Stay, Move; field. }
  unfold J_clock. rewrite coin_expect. fold g. rewrite !V. lra.
Qed.
