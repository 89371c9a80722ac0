package io.isobardb.bench.model;

import io.isobardb.tuner.model.Popularity;

/**
 * The popularity of all keys, by that of a sample of them: there are so many times as many keys,
 * and requests.
 *
 * @param sample what was seen
 * @param times how many keys one of the sample stands for
 */
record SampledPopularity(Popularity sample, double times) implements Popularity {
  @Override
  public double keys() {
    return times * sample.keys();
  }

  @Override
  public double unique(double requests) {
    return times * sample.unique(requests / times);
  }

  @Override
  public double uniqueInverse(double unique) {
    return times * sample.uniqueInverse(unique / times);
  }

  @Override
  public double sweptUnique(double requests) {
    return times * sample.sweptUnique(requests / times);
  }

  @Override
  public double sweptUniqueInverse(double unique) {
    return times * sample.sweptUniqueInverse(unique / times);
  }
}
