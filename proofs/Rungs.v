(** * The ladder of noise models, on the real line

      additive  S = mu + U                   s^k = s - mu_z + mu_k
      scale     S = mu + sigma U             s^k = mu_k + sigma_k ((s - mu_z) / sigma_z)
      rank      S = mu + sigma G^-1(U)       s^k = mu_k + sigma_k G_k^-1(G_z((s - mu_z) / sigma_z))

    mu and sigma read the previous state of their own world, the action and the level; G is a bijection for each level (on the
    program's side: the law of standardised residuals).  All three are bijections of the noise, so that [Bijections] applies. *)

From Coq Require Import List Reals Lra.
From Counterfair Require Import Model Bijections Algorithm1 Fairness Finite Perturbation ValueIteration Stationary.
Import ListNotations.
Open Scope R_scope.

Section Rank.
  Context {Z A : Type}.

  (** One equation: mean, spread, and the shape of the noise with its inverse. *)
  Record shape : Type := { to_rank : Z -> R -> R; from_rank : Z -> R -> R }.

  Definition is_shape (g : shape) : Prop :=
    (forall z e, from_rank g z (to_rank g z e) = e) /\ (forall z u, to_rank g z (from_rank g z u) = u).

  Record rung : Type := {
    mean_1 : Z -> R;            spread_1 : Z -> R;            shape_1 : shape;
    mean_R : R -> A -> Z -> R;  spread_R : R -> A -> Z -> R;  shape_R : shape;
    mean_S : R -> A -> Z -> R;  spread_S : R -> A -> Z -> R;  shape_S : shape
  }.

  Definition is_rung (q : rung) : Prop :=
    (forall z, spread_1 q z <> 0) /\ (forall s a z, spread_R q s a z <> 0) /\ (forall s a z, spread_S q s a z <> 0)
    /\ is_shape (shape_1 q) /\ is_shape (shape_R q) /\ is_shape (shape_S q).

  Definition outcome (m sd : R) (g : shape) (z : Z) (u : R) : R := m + sd * from_rank g z u.
  Definition rank_of (m sd : R) (g : shape) (z : Z) (s : R) : R := to_rank g z ((s - m) / sd).

  Definition rank_noise (q : rung) : mechanism Z R A R R R := {|
    first_of z u := outcome (mean_1 q z) (spread_1 q z) (shape_1 q) z u;
    first_inverse z s := rank_of (mean_1 q z) (spread_1 q z) (shape_1 q) z s;
    reward_of z s a u := outcome (mean_R q s a z) (spread_R q s a z) (shape_R q) z u;
    reward_inverse z s a r := rank_of (mean_R q s a z) (spread_R q s a z) (shape_R q) z r;
    next_of z s a u := outcome (mean_S q s a z) (spread_S q s a z) (shape_S q) z u;
    next_inverse z s a s' := rank_of (mean_S q s a z) (spread_S q s a z) (shape_S q) z s'
  |}.

  Lemma rank_of_outcome m sd g z u : sd <> 0 -> is_shape g -> rank_of m sd g z (outcome m sd g z u) = u.
  Proof.
    intros Hsd [_ H]. unfold rank_of, outcome.
    replace ((m + sd * from_rank g z u - m) / sd) with (from_rank g z u) by (field; exact Hsd). apply H.
  Qed.

  Lemma outcome_of_rank m sd g z s : sd <> 0 -> is_shape g -> outcome m sd g z (rank_of m sd g z s) = s.
  Proof. intros Hsd [H _]. unfold rank_of, outcome. rewrite H. field. exact Hsd. Qed.

  (** Every rung is a family of bijections: exactness, own component and fairness hold on it. *)
  (* label: alg:cf:1 *)
  Theorem rungs_are_bijections q : is_rung q -> noise_is_determined (rank_noise q) /\ outcomes_are_reached (rank_noise q).
  Proof.
    intros [H1 [HR [HS [G1 [GR GS]]]]].
    repeat split; intros; simpl; try apply rank_of_outcome; try apply outcome_of_rank; auto.
  Qed.

  (** The shape of noise that is not reshaped. *)
  Definition plain : shape := {| to_rank := fun _ e => e; from_rank := fun _ u => u |}.

  Lemma plain_is_shape : is_shape plain.
  Proof. split; reflexivity. Qed.

  (** The counterfactual next state on the three rungs, as tabulated above. *)
  (* label: alg:cf:1 *)
  Theorem counterfactuals_of_the_rungs q z k (s sk s' : R) (a : A) :
    let m := rank_noise q in
    let moved := next_of m k sk a (next_inverse m z s a s') in
    moved = mean_S q sk a k + spread_S q sk a k
              * from_rank (shape_S q) k (to_rank (shape_S q) z ((s' - mean_S q s a z) / spread_S q s a z))
    /\ (shape_S q = plain -> moved = mean_S q sk a k + spread_S q sk a k * ((s' - mean_S q s a z) / spread_S q s a z))
    /\ (shape_S q = plain -> (forall s a z, spread_S q s a z = 1) -> moved = s' - mean_S q s a z + mean_S q sk a k).
  Proof.
    cbv zeta. split; [reflexivity |]. split.
    - intros E. simpl. unfold outcome, rank_of. rewrite E. reflexivity.
    - intros E Hsd. simpl. unfold outcome, rank_of. rewrite E, !Hsd. simpl. field.
  Qed.

  (** thm:sr_policy on every rung: asm:unique is discharged by the bijections. *)
  (* label: thm:sr_policy *)
  Theorem stationary_optimum_on_every_rung {I : Type} (q : rung)
    (population : list (R * Z)) (first_noise : list (R * R)) (noise : list (R * I)) (u_R u_S : I -> R)
    (actions : finite_actions A) (gamma R_max : R) (z1 : Z) :
    is_rung q -> is_law population -> is_law first_noise -> is_law noise -> 0 <= gamma < 1 -> 0 <= R_max ->
    (forall k s a i, Rabs (reward_of (rank_noise q) k s a (u_R i)) <= R_max) ->
    let m := rank_noise q in
    exists g : (Z -> R) -> A,
      let pi_opt := fun h : history Z R A R => surely (g (worlds_now (first_of m) (next_of m) (reward_of m) (read_noise m h))) in
      let has_J := has_J (first_of m) (next_of m) (reward_of m) population first_noise noise u_R u_S gamma in
      fair (as_model m) (read_noise m) pi_opt
      /\ exists v_opt, has_J pi_opt v_opt
         /\ forall rho v, fair_rule (first_of m) (next_of m) (reward_of m) (read_noise m) (fun _ => rho) ->
                          has_J rho v -> v <= v_opt.
  Proof.
    intros Hq Hp H1 Hn Hg HR Hb m.
    exact (stationary_optimum (first_of m) (next_of m) (reward_of m) (read_noise m)
             (determined_noise_is_read_off m (proj1 (rungs_are_bijections q Hq)))
             population first_noise noise u_R u_S actions gamma R_max Hp H1 Hn Hg HR Hb z1).
  Qed.

  (** What the additive method does wrong where spreads differ: with the true means, the error of its first counterfactual is
      (sigma_z - sigma_k) u.  It does not fall with N, and is zero only for equal spreads (or u = 0). *)
  (* label: asm:additive *)
  Theorem additive_method_with_unequal_spreads (q : rung) z k u :
    shape_1 q = plain ->
    let s z := first_of (rank_noise q) z u in
    (s z - mean_1 q z + mean_1 q k) - s k = (spread_1 q z - spread_1 q k) * u.
  Proof. intros E. cbv zeta. simpl. unfold outcome. rewrite E. simpl. ring. Qed.
End Rank.
