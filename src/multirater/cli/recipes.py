"""Handlers of the verb import for the data sets of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from multirater.cli.options import ALL_CORES, Data, Output, Overwrite, Seed, Workers

TruthKind = Literal["masks", "classes"]
Grade = Literal["both", "HGG", "LGG"]


def mnist(
    source: Annotated[Path, typer.Argument(help="Folder with the idx files, .gz or not.")],
    output: Output,
    kind: Annotated[
        TruthKind, typer.Option(help="Truth: where the digit is, or which digit it is.")
    ] = "masks",
    train: Annotated[
        int | None, typer.Option(min=0, help="The first so many only.", show_default=False)
    ] = None,
    test: Annotated[
        int | None, typer.Option(min=0, help="The first so many only.", show_default=False)
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Make a data set of MNIST: digits with their masks as truth, and no raters.

    `multirater simulate` gives it raters.
    """
    from multirater.io.importers.recipes import import_mnist

    print(import_mnist(source, output, kind=kind, n_train=train, n_test=test, overwrite=overwrite))


def ms_lesion(
    source: Annotated[Path, typer.Argument(help="Folder with training01, training02, ...")],
    output: Output,
    truth: Annotated[
        int | None,
        typer.Option(min=1, max=2, help="Rater to take for the truth too.", show_default=False),
    ] = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Make a data set of the ISBI 2015 MS lesion challenge: four modalities, two raters.

    The files stay where they are.
    """
    from multirater.io.importers.recipes import import_ms_lesion

    print(import_ms_lesion(source, output, truth=truth, seed=seed, overwrite=overwrite))


def brats(
    source: Annotated[Path, typer.Argument(help="Folder with HGG and LGG.")],
    output: Output,
    grade: Annotated[Grade, typer.Option(help="High or low grade only.")] = "both",
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Make a data set of BraTS 2019: four modalities, 192 x 192 pixels in plane, truth only.

    `multirater simulate` gives it raters.
    """
    from multirater.io.importers.recipes import import_brats
    from multirater.io.importers.recipes.brats import GRADES

    grades = GRADES if grade == "both" else (grade,)
    print(import_brats(source, output, grades=grades, seed=seed, overwrite=overwrite))


def lidc_crops(
    source: Data,
    output: Output,
    isotropic: Annotated[
        bool, typer.Option("--isotropic", help="1 mm between slices too, not in plane only.")
    ] = False,
    seed: Seed = 0,
    workers: Workers = ALL_CORES,
    overwrite: Overwrite = False,
) -> None:
    """Cut what `import lidc --ct` made into slices of 180 x 180 mm, where a reader drew."""
    from multirater.io.importers.recipes import import_lidc_crops

    print(
        import_lidc_crops(
            source, output, isotropic=isotropic, seed=seed, workers=workers, overwrite=overwrite
        )
    )


def cityscapes(
    source: Annotated[
        Path, typer.Argument(help="Folder with leftImg8bit, and gtFine, gtCoarse or both.")
    ],
    output: Output,
    masks: Annotated[
        int | None,
        typer.Option(
            min=0, help="Training images with masks; all others coarse.", show_default=False
        ),
    ] = None,
    shrink: Annotated[int, typer.Option(min=1, help="4: a fourth of the size.")] = 1,
    overwrite: Overwrite = False,
) -> None:
    """Make a data set of Cityscapes: fine masks, and coarse polygons as positive drawings."""
    from multirater.io.importers.recipes import import_cityscapes

    print(import_cityscapes(source, output, masks=masks, shrink=shrink, overwrite=overwrite))


def les_av(
    source: Annotated[Path, typer.Argument(help="Folder with images and vessel-segmentations.")],
    output: Output,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Make a data set of LES-AV: fundus photographs, the vessels as truth, and no raters.

    `multirater simulate --raters coarse:0.3` gives it coarse drawings.
    """
    from multirater.io.importers.recipes import import_les_av

    print(import_les_av(source, output, seed=seed, overwrite=overwrite))


def qubiq(
    source: Annotated[Path, typer.Argument(help="Folder with the folders of the tasks.")],
    output: Output,
    task: Annotated[str, typer.Option(help="Folder of the task.")] = "brain-growth",
    structure: Annotated[int, typer.Option(min=1, help="Which structure of the task.")] = 1,
    overwrite: Overwrite = False,
) -> None:
    """Make a data set of a task of QUBIQ: several raters, no truth."""
    from multirater.io.importers.recipes import import_qubiq

    print(import_qubiq(source, output, task=task, structure=structure, overwrite=overwrite))


def refuge(
    source: Annotated[Path, typer.Argument(help="Folder with images and masks.")],
    output: Output,
    overwrite: Overwrite = False,
) -> None:
    """Make a data set of REFUGE: optic disc and cup, by seven raters and arbitrated."""
    from multirater.io.importers.recipes import import_refuge

    print(import_refuge(source, output, overwrite=overwrite))


def riga(
    source: Annotated[Path, typer.Argument(help="Folder with MESSIDOR, BinRushed, Magrabia.")],
    output: Output,
    overwrite: Overwrite = False,
) -> None:
    """Make a data set of RIGA: optic disc and cup, from the outlines of six raters."""
    from multirater.io.importers.recipes import import_riga

    print(import_riga(source, output, overwrite=overwrite))


RECIPES = (mnist, ms_lesion, brats, lidc_crops, cityscapes, les_av, qubiq, refuge, riga)
