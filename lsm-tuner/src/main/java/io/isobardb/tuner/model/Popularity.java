package io.isobardb.tuner.model;

/**
 * How popular each key of a workload is, as far as a model of writes needs to know.
 *
 * <p>Requests are taken to be independent of each other (section 3.1 of the paper). A weighted
 * popularity counts each key by its weight, for example its size or its share of the reads, where
 * an unweighted one counts 1; what is said of "keys" below then holds for their weights.
 *
 * <p>Implementations are immutable; any thread may use them.
 */
public interface Popularity {
  /** {@return the number of keys: N in the paper} */
  double keys();

  /**
   * The number of distinct keys expected in a sequence of requests: Unique (definition 1).
   *
   * @param requests 0 or more; may be infinite
   * @return from 0 to {@link #keys}
   */
  double unique(double requests);

  /**
   * The number of requests in which this many distinct keys are expected: the inverse of Unique.
   *
   * @param unique from 0 to {@link #keys}
   * @return 0 or more; infinite for all keys
   */
  double uniqueInverse(double unique);

  /**
   * {@return the number of keys in a level that is emptied in turn along the key space while
   * entries keep coming: the mean of {@code unique(x * requests)} over x from 0 to 1 (theorem 3 and
   * lemma 2)}
   *
   * @param requests that arrive between two visits to the same key; 0 or more, may be infinite
   */
  double sweptUnique(double requests);

  /**
   * The number of requests between two visits to the same key of a level that is emptied in turn
   * and holds this many keys: the inverse of {@link #sweptUnique}, DInterval in section 4.3.
   *
   * @param unique from 0 to {@link #keys}
   * @return 0 or more; infinite for all keys
   */
  double sweptUniqueInverse(double unique);

  /**
   * {@return the number of distinct keys in two tables together: Merge (definition 2)}
   *
   * @param first from 0 to {@link #keys}
   * @param second from 0 to {@link #keys}
   */
  default double merge(double first, double second) {
    return unique(uniqueInverse(first) + uniqueInverse(second));
  }
}
