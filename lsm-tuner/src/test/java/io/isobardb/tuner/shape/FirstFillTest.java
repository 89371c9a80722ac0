package io.isobardb.tuner.shape;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.EvenPopularity;
import io.isobardb.tuner.model.RunPolicy;
import io.isobardb.tuner.model.RunsModel;
import java.util.List;
import org.junit.jupiter.api.Test;

class FirstFillTest {
  private static final Window HALF = new Window(0, 500, 0, 500, 0, 0, 0);

  /** Groups of L0 from which on it is merged down; the first is usual. */
  private static final int[] GROUPS = {4, 2, 8};

  /** What {@link RunsModel} says of a tree with entries of 1 KB. */
  private static FirstFill.Costs costs(Window seen) {
    double held = 8192;
    return (option, size) -> {
      EvenPopularity popularity = new EvenPopularity(size * held);
      EngineShape.Disk disk = new EngineShape.Disk(held / 8, held / 8, 1, GROUPS[option], 10);
      TreeModel model =
          new TreeModel(
              new TreeModel.Measured(
                  disk, popularity.sweptUniqueInverse(held), popularity, 1.0 / 8),
              List.of(RunPolicy.leveled()),
              new RunsModel.Reads(8, 10, true),
              1.25,
              new TreeModel.Weights(1, 1));
      return model.written(0, seen) + model.read(0, seen);
    };
  }

  private static int groups(Window seen) {
    return GROUPS[FirstFill.choose(seen, GROUPS.length, costs(seen))];
  }

  @Test
  void writesAndLookupsBeginWithMoreGroups() {
    assertEquals(8, groups(HALF));
    assertEquals(8, groups(new Window(0, 900, 0, 100, 0, 0, 0)));
  }

  @Test
  void scansBeginWithFewer() {
    assertEquals(2, groups(new Window(0, 20, 0, 480, 0, 500, 10_000)));
  }

  @Test
  void whatIsBestAtSomeSizesAloneIsNotChosen() {
    Window mixed = new Window(0, 400, 0, 500, 0, 100, 2_000);
    assertEquals(4, groups(mixed));
    FirstFill.Costs larger = (option, size) -> option == 1 && size > 100 ? 0.5 : 1;
    assertEquals(0, FirstFill.choose(HALF, 2, larger));
    FirstFill.Costs smaller = (option, size) -> option == 1 && size < 100 ? 0.5 : 1;
    assertEquals(0, FirstFill.choose(HALF, 2, smaller));
    assertEquals(1, FirstFill.choose(HALF, 2, (option, size) -> option == 1 ? 0.5 : 1));
  }

  @Test
  void theLargestOfTheLeastGainsIsChosen() {
    FirstFill.Costs costs =
        (option, size) ->
            switch (option) {
              case 1 -> size < 10 ? 0.9 : 0.1;
              case 2 -> 0.8;
              default -> 1;
            };
    assertEquals(2, FirstFill.choose(HALF, 3, costs));
  }

  @Test
  void writesAloneAndFewOperationsChooseNothing() {
    FirstFill.Costs half = (option, size) -> option == 1 ? 0.5 : 1;
    assertEquals(0, FirstFill.choose(new Window(1_000, 0, 0, 0, 0, 0, 0), 2, half));
    assertEquals(0, FirstFill.choose(new Window(960, 0, 0, 40, 0, 0, 0), 2, half));
    assertEquals(1, FirstFill.choose(new Window(940, 0, 0, 60, 0, 0, 0), 2, half));
    assertEquals(0, FirstFill.choose(new Window(0, 250, 0, 250, 0, 0, 0), 2, half));
  }
}
