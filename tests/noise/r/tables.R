# Answers of R to questions that tests/noise/peers.rs also asks of this project. Makes the three tables beside this file:
#
#     Rscript tests/noise/r/tables.R        (Debian: r-base-core r-cran-quantreg r-cran-mgcv)
#
# People are made by formulas that both sides write down, so that no data need to be kept.
suppressMessages({library(quantreg); library(mgcv)})
folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
keep <- function(table, name) {
  table[] <- lapply(table, function(x) if (is.double(x)) signif(x, 12) else x)
  write.csv(table, file.path(folder, name), row.names = FALSE, quote = FALSE)
}
fraction <- function(x) x - floor(x)

# 1. Quantile preservation for one static decision and two levels: linear quantile regressions of the state on the level, the rank of a value
#    at its own level read off at the other, straight between the quantiles. Level 0 is normal, level 1 a shifted exponential.
n <- 1000
u <- (seq_len(n) - 0.5) / n
people <- data.frame(z = rep(0:1, each = n), s = c(0.8 * qnorm(u), 1 + 1.5 * (-log1p(-u) - 1)))
tau <- (seq_len(199)) / 200
fits <- suppressWarnings(rq(s ~ z, tau = tau, data = people))$coefficients
quantiles <- list(fits[1, ], fits[1, ] + fits[2, ])
probe <- function(z, at) {
  own <- quantiles[[z + 1]]; other <- quantiles[[2 - z]]
  s <- quantile(own, at, names = FALSE)
  data.frame(z = z, s = s, counterfactual = approx(own, other, xout = s)$y)
}
at <- seq(0.06, 0.94, by = 0.08)
keep(rbind(probe(0, at), probe(1, at)), "quantile_preservation.csv")

# 2. Spread by level, state and action: gaulss with linear predictors for mean and log sd, level by level. Its sd is b + exp(.); b is set to 0.
m <- 900
i <- seq_len(m)
s <- 3.4 * (fraction(i * sqrt(2)) - 0.5); a <- as.integer(fraction(i * sqrt(3)) < 0.5); e <- qnorm(fraction(i * sqrt(5)))
z <- i %% 2
y <- 0.3 + 0.5 * s + 0.4 * a + 0.3 * s * a + 0.5 * z + exp(-0.5 + 0.3 * s + 0.2 * a + 0.4 * z * (1 - s)) * e
rows <- list()
for (level in 0:1) {
  own <- data.frame(y, s, a)[z == level, ]
  fit <- gam(list(y ~ s * a, ~ s + a), family = gaulss(b = 0), data = own)
  grid <- expand.grid(s = c(-1.5, -0.5, 0.5, 1.5), a = 0:1)
  predicted <- predict(fit, grid, type = "response")
  rows[[level + 1]] <- data.frame(z = level, grid, mean = predicted[, 1], sd = 1 / predicted[, 2])
}
keep(do.call(rbind, rows), "spread.csv")

# 3. Bounds of the marginal sensitivity model for one decision. Two ways: the extrema over sorted outcomes that Zhao, Small and Bhattacharya (2019)
#    give for the fractional linear program, and Dinkelbach's iteration for the same program.
k <- 60
j <- seq_len(k)
propensity <- 0.2 + 0.6 * fraction(j * sqrt(2))
treated <- as.integer(fraction(j * sqrt(3)) < propensity)
outcome <- qnorm(fraction(j * sqrt(5))) + 0.7 * treated
sorted <- function(y, inverse.odds, gamma) {
  order <- order(-y); y <- y[order]; o <- inverse.odds[order]
  high <- 1 + gamma * o; low <- 1 + o / gamma
  top <- cumsum(y * high) + c(rev(cumsum(rev(y * low)))[-1], 0)
  bottom <- cumsum(high) + c(rev(cumsum(rev(low)))[-1], 0)
  max(top / bottom)
}
dinkelbach <- function(y, inverse.odds, gamma) {
  value <- mean(y)
  repeat {
    w <- 1 + inverse.odds * ifelse(y > value, gamma, 1 / gamma)
    following <- sum(w * y) / sum(w)
    if (abs(following - value) < 1e-14) return(following)
    value <- following
  }
}
rows <- list()
for (gamma in c(1, 1.1, 1.5, 2, 4)) for (action in 0:1) {
  taken <- treated == action
  chance <- ifelse(action == 1, 1, 0) * propensity + ifelse(action == 1, 0, 1) * (1 - propensity)
  y <- outcome[taken]; o <- (1 / chance - 1)[taken]
  bounds <- c(-sorted(-y, o, gamma), sorted(y, o, gamma))
  stopifnot(abs(bounds - c(-dinkelbach(-y, o, gamma), dinkelbach(y, o, gamma))) < 1e-12)
  rows[[length(rows) + 1]] <- data.frame(gamma, action, low = bounds[1], high = bounds[2])
}
keep(do.call(rbind, rows), "sensitivity.csv")
