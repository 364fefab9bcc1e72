"""The points that the paper leaves open, and what we chose."""

DECISIONS: tuple[tuple[str, str], ...] = (
    (
        "Split",
        "The paper does not publish its split. We searched for ours: of the stratified splits with "
        "seeds 0, 1, 2, ... it is the first whose constants equal the paper's in every printed "
        "digit on both datasets. The search took 16,618 seeds, of which 337 fit MNIST alone "
        "(`paper/tools/split_seed.py` repeats the count). So equal constants below are no finding, and "
        "the split is not the paper's.",
    ),
    (
        "Reference norm",
        "The largest norm of a standardised training image. The Fashion-MNIST test images are "
        "scaled to their own largest norm, as in the paper's table. This uses all test images at "
        "once (it is transductive). test-norm shows the accuracies with the norm of the training "
        "images instead: they change by 0.15 points (PATH) and 0.02 (TWO-STAGE-END).",
    ),
    (
        "Teachers",
        "The paper does not publish its initialisations. Ours are those of the first seed: five on "
        "MNIST, of which the paper's rule takes the best on validation, and one on Fashion-MNIST. "
        "We chose none for its likeness to the printed numbers. (Version 0.1 took seed 2 on MNIST "
        "for that reason. Its numbers were closer to the paper's; they are among those of "
        "teacher-sweep.) teacher-sweep shows what another teacher changes: ten seeds on MNIST, "
        "each selected by both rules, and twenty on Fashion-MNIST.",
    ),
    (
        "Checkpoint of the teacher",
        "On MNIST, the epoch with the best validation top-1; ties go to the smaller cross-entropy. "
        "On Fashion-MNIST, the epoch with the smallest validation cross-entropy. Both are as in "
        "the paper's table.",
    ),
    (
        "Initialisation, arithmetic and training order",
        "A teacher's weights and biases are uniform in ±1/√fan-in. A student starts at exact zero. "
        "Both train in float32. The last, smaller batch of an epoch is a step like any other. The "
        "training order is a function of run and epoch. Stage II therefore takes the images in "
        "the order of the first epochs of Stage I, and every continuation of a run has the same "
        "orders.",
    ),
    (
        "Transferred targets",
        "The float32 teacher is evaluated in float64, and the targets are clipped to the nearest "
        "number below 1. In float32 the outputs would saturate and change the path.",
    ),
    (
        "Sum over the path",
        "The path loss is a sum over 200 times. We compute it at 32 weighted times (the Gauss rule "
        "of that sum), which gives the gradient to 1e-6.",
    ),
    (
        "Epochs of the auxiliary branches",
        "The paper does not state them. We train all branches at learning rate 30, including those "
        "from zero, for 20 epochs. from-zero shows what 60 epochs change.",
    ),
    (
        "Selection of PATH-CONT and of ties",
        "We select every continuation by the joint score of validation top-1 and agreement. Ties "
        "go to the smaller endpoint RMSE.",
    ),
    (
        "Auxiliary single run",
        "It is the first of the ten main PATH runs. The ablation, the endpoint weights and the "
        "trajectory analysis continue from it.",
    ),
    (
        "Bootstrap",
        "The paper does not state it. We use 10,000 resamples of runs and percentile intervals.",
    ),
    (
        "Noise",
        "The noise is counter-based (Philox): one number for each temperature, replicate, image, "
        "step and oscillator. So every network gets the same noise.",
    ),
    (
        "Cases A to D of the stochastic figure",
        "The paper shows four examples. We find ours by a rule: of all test images in a case, the "
        "one whose TWO-STAGE-END ensemble margin is the median.",
    ),
)
