import lidc_times
import spatial_choice


def test_every_way_is_compared(monkeypatch):
    monkeypatch.setattr(spatial_choice, "SHAPE", (48, 48))
    table = spatial_choice.compare(1)
    assert list(table.index) == list(spatial_choice.RATERS)
    assert list(table.columns) == list(spatial_choice.FUSIONS)
    assert table.astype(float).to_numpy().min() > 0


def test_a_verb_is_timed():
    found = lidc_times.timed(["--version"])
    assert float(found["wall s"]) > 0
