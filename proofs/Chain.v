(** * From Algorithm 1's means to the value of the deployed rule, in one statement

    means -> counterfactual states and rewards (Theorem 6, along the path) -> one regression (Lemma P) -> fitted Q iteration ->
    the greedy rule on estimated states, deployed in the original process -> J*_CF - V~, J and unfairness (Theorem 3'').

    Everything is deterministic.  What sampling adds enters as one number, [e_stat]: how far the regression *on true
    counterfactual states and rewards* is from the Bellman image of the function before it. *)

From Coq Require Import List Reals Lra Lia.
From Counterfair Require Import
  Model Algorithm1 Fairness Finite Perturbation ValueIteration Margin LemmaP Stationary FairValue.
Import ListNotations.
Open Scope R_scope.

Section Chain.
  Context {Z A I : Type} {S : abelian_group}.
  Variables (norm : size_on S) (mu mu_hat : means Z A S real_line).

  (** ** The world: additive noise *)
  Let f_1 (z : Z) (u : S) : S := (initial_mean mu z + u)%G.
  Let f_S (z : Z) (s : S) (a : A) (u : S) : S := (state_mean mu s a z + u)%G.
  Let f_R (z : Z) (s : S) (a : A) (u : R) : R := reward_mean mu s a z + u.
  Variables (population : list (R * Z)) (first_noise : list (R * S)) (noise : list (R * I)).
  Variables (u_R : I -> R) (u_S : I -> S) (actions : finite_actions A) (same : forall a b : A, {a = b} + {a <> b}).
  Variables (gamma R_max : R).
  Hypothesis population_law : is_law population.
  Hypothesis first_noise_law : is_law first_noise.
  Hypothesis noise_law : is_law noise.
  Hypothesis discount : 0 <= gamma < 1.
  Hypothesis R_max_nonneg : 0 <= R_max.
  Hypothesis asm_bounded_reward : forall k s a i, Rabs (f_R k s a (u_R i)) <= R_max.

  Local Notation world := (simulate (additive mu)).
  Local Notation now := (worlds_now f_1 f_S f_R).
  Local Notation M := (augmented f_S f_R population noise u_R u_S actions gamma R_max
                         population_law noise_law discount R_max_nonneg asm_bounded_reward).
  Local Notation V := (V_max M).

  (** Augmented states within eps of each other: in every world. *)
  Definition within (eps : R) (x y : Z -> S) : Prop := forall k, norm (x k - y k)%G <= eps.

  (** ** Lipschitz constants *)
  Variables (l l_r L_2 L_Q : R).
  Hypothesis l_nonneg : 0 <= l.
  Hypothesis l_r_nonneg : 0 <= l_r.
  Hypothesis L_Q_nonneg : 0 <= L_Q.
  Hypothesis state_lipschitz :
    forall s s' a z, norm (state_mean mu s a z - state_mean mu s' a z)%G <= l * norm (s - s')%G.
  Hypothesis reward_lipschitz :
    forall s s' a z, Rabs (reward_mean mu s a z - reward_mean mu s' a z) <= l_r * norm (s - s')%G.
  Hypothesis Q_lipschitz : forall eps x y a, within eps x y -> Rabs (Q_star M x a - Q_star M y a) <= L_Q * eps.

  (** ** Algorithm 1 with estimated means *)

  (** The augmented state that the program computes from a history. *)
  Definition estimated_now (h : history Z S A real_line) (k : Z) : S := current (estimated_world mu_hat (fst h) k (snd h)).

  Variables (e_0 e e_r eps_s : R).
  Hypothesis eps_s_nonneg : 0 <= eps_s.
  (** With l < 1, [state_bound_uniform] gives eps_s = 2 e / (1 - l) + 2 e_0. *)
  Hypothesis bound_at_all_times : forall t, state_bound e_0 e l t <= eps_s.

  Lemma estimated_within z w :
    (forall k, states_within norm mu mu_hat e_0 e z k w) -> within eps_s (estimated_now (z, world z w)) (now w).
  Proof.
    intros H k. eapply Rle_trans; [| apply (bound_at_all_times (steps w))].
    exact (counterfactual_state_error norm mu mu_hat e_0 e l state_lipschitz l_nonneg z k w (H k)).
  Qed.

  (** ** The data: row i is a person at level [level i] with noise [past i], then [action i] and fresh noise.  Rows from n on are
      not used; let them repeat row 0. *)
  Variables (n : nat) (level : nat -> Z) (past : nat -> trajectory S A real_line) (action : nat -> A).
  Variables (row_noise : nat -> I).
  Hypothesis rows : (0 < n)%nat.
  Let future (i : nat) : trajectory S A real_line := step (past i) (action i) (u_R (row_noise i)) (u_S (row_noise i)).

  (** The means are within e_0, e and e_r where the algorithm evaluates them on these rows. *)
  Hypothesis rows_evaluated : forall i k, states_within norm mu mu_hat e_0 e (level i) k (future i).
  Hypothesis rewards_evaluated : forall i k, reward_within mu mu_hat e_r (level i) k (future i).

  (** Estimated weights of the levels, at distance delta_p. *)
  Variables (population_hat : list (R * Z)) (delta_p : R).
  Hypothesis population_hat_law : is_law population_hat.
  Hypothesis weights_close :
    forall (g : Z -> R) c, (forall k, Rabs (g k) <= c) -> Rabs (expect population_hat g - expect population g) <= c * delta_p.

  Let x (i : nat) : Z -> S := now (past i).
  Let x' (i : nat) : Z -> S := now (future i).
  Let x_hat (i : nat) : Z -> S := estimated_now (level i, world (level i) (past i)).
  Let x_hat' (i : nat) : Z -> S := estimated_now (level i, world (level i) (future i)).
  Let r (i : nat) : R := expect population (fun k => newest_reward (world k (future i))).
  Let r_hat (i : nat) : R :=
    expect population_hat (fun k => newest_reward (estimated_world mu_hat (level i) k (world (level i) (future i)))).

  Definition eps_r : R := 2 * e_r + l_r * eps_s + R_max * delta_p.

  Lemma rewards_estimated i : Rabs (r_hat i - r i) <= eps_r.
  Proof.
    unfold eps_r.
    replace (r_hat i - r i) with
      ((r_hat i - expect population_hat (fun k => newest_reward (world k (future i))))
       + (expect population_hat (fun k => newest_reward (world k (future i))) - r i)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat.
    - apply expect_close; [exact population_hat_law |]. intros k.
      eapply Rle_trans;
        [exact (counterfactual_reward_error norm mu mu_hat e_0 e e_r l l_r state_lipschitz reward_lipschitz l_nonneg l_r_nonneg
                  (level i) k (future i) (steps (past i)) eq_refl (rows_evaluated i k) (rewards_evaluated i k)) |].
      apply Rplus_le_compat_l, Rmult_le_compat_l; [exact l_r_nonneg | apply bound_at_all_times].
    - apply weights_close. intros k. apply asm_bounded_reward.
  Qed.

  Lemma rows_within i : within eps_s (x_hat i) (x i) /\ within eps_s (x_hat' i) (x' i).
  Proof.
    split; apply estimated_within; intros k; [exact (proj1 (rows_evaluated i k)) | exact (rows_evaluated i k)].
  Qed.

  (** ** Fitted Q iteration on a linear class *)
  Variables (dim : nat) (phi : (Z -> S) -> A -> nat -> R) (R_2 c W rho e_stat : R).
  Hypothesis c_pos : 0 < c.
  Hypothesis L_2_nonneg : 0 <= L_2.
  Hypothesis features_bounded : forall x a, norm2 dim (phi x a) <= R_2.
  Hypothesis features_lipschitz :
    forall eps x y a, within eps x y -> norm2 dim (fun j => phi x a j - phi y a j) <= L_2 * eps.

  (** w_hat b: what the program fits at iteration b.  w b: the same regression on the true states and rewards. *)
  Variables (w w_hat : nat -> nat -> R).
  Let f (b : nat) (x : Z -> S) (a : A) : R := dot dim (phi x a) (w_hat b).
  Let target (b i : nat) : R := r i + gamma * best actions (f b (x' i)).
  Let target_hat (b i : nat) : R := r_hat i + gamma * best actions (f b (x_hat' i)).

  Hypothesis starts_at_zero : forall j, w_hat O j = 0.
  Hypothesis fitted : forall b, normal_equations n dim (fun i => phi (x_hat i) (action i)) (target_hat b) (w_hat (Datatypes.S b)).
  Hypothesis true_fit : forall b, normal_equations n dim (fun i => phi (x i) (action i)) (target b) (w (Datatypes.S b)).
  Hypothesis coverage : forall v,
    INR n * c * dot dim v v
    <= sum n (fun i => dot dim (phi (x_hat i) (action i)) v * dot dim (phi (x_hat i) (action i)) v).
  Hypothesis coefficients : forall b, norm2 dim (w (Datatypes.S b)) <= W /\ norm2 dim (w_hat b) <= W.
  Hypothesis residuals_bounded :
    forall b, rms_residual n dim (fun i => phi (x i) (action i)) (target b) (w (Datatypes.S b)) <= rho.

  (** All that sampling contributes. *)
  Hypothesis statistical_error :
    forall b, close e_stat (fun x a => dot dim (phi x a) (w (Datatypes.S b))) (bellman M (f b)).

  Definition e_pert : R :=
    R_2 * ((eps_r + gamma * (L_2 * eps_s * W) + L_2 * eps_s * W) / sqrt c + L_2 * eps_s * rho / c).

  Lemma f_lipschitz b eps y y' a : 0 <= eps -> within eps y y' -> Rabs (f b y a - f b y' a) <= L_2 * eps * W.
  Proof.
    intros Heps Hy. unfold f. rewrite <- dot_minus_l. apply Rle_trans with (1 := cauchy_schwarz _ _ _).
    apply Rmult_le_compat; [apply norm2_nonneg | apply norm2_nonneg | apply features_lipschitz, Hy | apply coefficients].
  Qed.

  Lemma targets_within b i : Rabs (target_hat b i - target b i) <= eps_r + gamma * (L_2 * eps_s * W).
  Proof.
    unfold target_hat, target.
    replace (r_hat i + gamma * best actions (f b (x_hat' i)) - (r i + gamma * best actions (f b (x' i))))
      with ((r_hat i - r i) + gamma * (best actions (f b (x_hat' i)) - best actions (f b (x' i)))) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat; [apply rewards_estimated |].
    rewrite Rabs_mult, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra |].
    apply best_close. intros a. apply f_lipschitz; [exact eps_s_nonneg | apply rows_within].
  Qed.

  Lemma R_2_nonneg : 0 <= R_2.
  Proof. apply Rle_trans with (2 := features_bounded (x 0%nat) (action 0%nat)). apply norm2_nonneg. Qed.

  Lemma one_step b : close (e_stat + e_pert) (f (Datatypes.S b)) (bellman M (f b)).
  Proof.
    apply close_le with (e_pert + e_stat); [lra |].
    apply close_triangle with (fun y a => dot dim (phi y a) (w (Datatypes.S b))); [| apply statistical_error].
    intros y a. unfold f.
    eapply Rle_trans;
      [apply (perturbed_prediction n dim _ _ (target b) (target_hat b) (w (Datatypes.S b)) (w_hat (Datatypes.S b)) c
                rows c_pos (true_fit b) (fitted b) coverage (eps_r + gamma * (L_2 * eps_s * W)) (L_2 * eps_s)
                (targets_within b)) |].
    - intros i. apply features_lipschitz, rows_within.
    - unfold e_pert. pose proof (sqrt_lt_R0 c c_pos) as Hc.
      pose proof (Rmult_le_pos _ _ L_2_nonneg eps_s_nonneg) as HL.
      assert (Hw : L_2 * eps_s * norm2 dim (w (Datatypes.S b)) <= L_2 * eps_s * W)
        by (apply Rmult_le_compat_l; [exact HL | apply coefficients]).
      assert (Hr : L_2 * eps_s * rms_residual n dim (fun i => phi (x i) (action i)) (target b) (w (Datatypes.S b))
                   <= L_2 * eps_s * rho) by (apply Rmult_le_compat_l; [exact HL | apply residuals_bounded]).
      assert (He : 0 <= eps_r + gamma * (L_2 * eps_s * W))
        by (apply Rle_trans with (2 := targets_within b 0); apply Rabs_pos).
      assert (0 <= rms_residual n dim (fun i => phi (x i) (action i)) (target b) (w (Datatypes.S b))) by apply sqrt_pos.
      assert (0 <= norm2 dim (w (Datatypes.S b))) by apply norm2_nonneg.
      apply Rmult_le_compat; [apply norm2_nonneg | | apply features_bounded |].
      + apply Rplus_le_le_0_compat; apply Rmult_le_pos; try (left; apply Rinv_0_lt_compat; assumption).
        * apply Rplus_le_le_0_compat; [exact He | apply Rmult_le_pos; assumption].
        * apply Rmult_le_pos; assumption.
      + apply Rplus_le_compat; apply Rmult_le_compat_r; try (left; apply Rinv_0_lt_compat; assumption); lra.
  Qed.

  Lemma e_total_nonneg : 0 <= e_stat + e_pert.
  Proof. apply Rle_trans with (2 := one_step 0 (x 0%nat) (action 0%nat)). apply Rabs_pos. Qed.

  (** ** The deployed rule *)
  Variable B : nat.
  Definition xi : R := (e_stat + e_pert) / (1 - gamma) + gamma ^ B * V.
  Definition deployed_rule (h : history Z S A real_line) : A := greedy actions (f B (estimated_now h)).

  Lemma fitted_close : close xi (f B) (Q_star M).
  Proof.
    apply (fitted_iteration_from_zero M f (e_stat + e_pert) B e_total_nonneg).
    - intros y a. unfold f. apply dot_zero. intros j _. apply starts_at_zero.
    - apply one_step.
  Qed.

  Local Notation followed := (followed f_1 f_S f_R first_noise noise u_R u_S deployed_rule).

  (** The means are close where the algorithm evaluates them on people who are treated by the rule, in all their worlds. *)
  Hypothesis deployment_evaluated : forall z z' k w, followed z w -> states_within norm mu mu_hat e_0 e z' k w.

  Lemma deployed_scores z z' w0 a :
    followed z w0 ->
    Rabs (f B (estimated_now (z', world z' w0)) a - Q_star M (now w0) a) <= xi + L_Q * eps_s.
  Proof.
    intros Hw. pose proof (fitted_close (estimated_now (z', world z' w0)) a) as H1.
    pose proof (Q_lipschitz eps_s (estimated_now (z', world z' w0)) (now w0) a
                  (estimated_within z' w0 (fun k => deployment_evaluated z z' k w0 Hw))) as H2.
    match goal with |- Rabs (?p - ?q) <= _ =>
      replace (p - q) with ((p - Q_star M (estimated_now (z', world z' w0)) a)
                            + (Q_star M (estimated_now (z', world z' w0)) a - q)) by ring end.
    apply Rle_trans with (1 := Rabs_triang _ _). lra.
  Qed.

  Lemma xi_total_nonneg : 0 <= xi + L_Q * eps_s.
  Proof.
    pose proof (Rmult_le_pos _ _ L_Q_nonneg eps_s_nonneg).
    pose proof (fitted_close (x 0%nat) (action 0%nat)). pose proof (Rabs_pos (f B (x 0%nat) (action 0%nat) - Q_star M (x 0%nat) (action 0%nat))).
    lra.
  Qed.

  Local Notation xi' := (xi + L_Q * eps_s).
  Local Notation J_CF := (J_star_CF f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
                            population_law noise_law discount R_max_nonneg asm_bounded_reward).
  Local Notation value_triple := (values f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
                                    population_law noise_law discount R_max_nonneg asm_bounded_reward deployed_rule).
  Local Notation mean_at := (population_mean f_1 f_S f_R population first_noise noise u_R u_S deployed_rule).
  Local Notation metric := (cf_metric f_1 f_S f_R population first_noise noise u_R u_S deployed_rule).

  (** The chain.  v is J of the deployed rule, v_fair its V~, p its E gamma^(tau - 1); metric t z1 z2 is the share of people
      who at time t + 1 would be treated differently at levels z1 and z2. *)
  (* label: thm:regret *)
  (* label: thm:cf_metric *)
  Theorem from_means_to_value_and_unfairness :
    exists v v_fair p, value_triple v v_fair p
      /\ close xi (f B) (Q_star M)
      /\ 0 <= J_CF - v_fair <= 2 * xi' / (1 - gamma)
      /\ Rabs (v - v_fair) <= 2 * V * p
      /\ J_CF - v <= 2 * xi' / (1 - gamma) + 2 * V * p
      /\ forall t z1 z2, metric t z1 z2 <= mean_at t (fun w => indicator (gap same actions (Q_star M (now w)) <= 2 * xi')).
  Proof.
    destruct (every_rule_has_values f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
                population_law first_noise_law noise_law discount R_max_nonneg asm_bounded_reward deployed_rule)
      as [v [v_fair [p Hv]]].
    pose proof (value_of_any_rule _ _ _ _ _ _ _ _ _ _ _ _ first_noise_law _ _ _ _ _ _ _ _ Hv) as [H1 H2].
    pose proof (regret_of_the_deployed_rule f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
                  population_law first_noise_law noise_law discount R_max_nonneg asm_bounded_reward deployed_rule
                  (fun h => f B (estimated_now h)) xi' xi_total_nonneg (fun _ => eq_refl)
                  (fun z w0 a Hw => deployed_scores z z w0 a Hw) v v_fair p Hv) as [H3 H4].
    exists v, v_fair, p. split; [exact Hv |]. split; [exact fitted_close |]. split; [lra |]. split; [exact H1 |].
    split; [exact H4 |]. intros t z1 z2.
    exact (cf_metric_is_controlled f_1 f_S f_R population first_noise noise u_R u_S actions gamma R_max
             population_law first_noise_law noise_law discount R_max_nonneg asm_bounded_reward deployed_rule
             (fun h => f B (estimated_now h)) xi' (fun _ => eq_refl) same t z1 z2 deployed_scores).
  Qed.
End Chain.
