package io.isobardb.kafka;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.processor.BatchingStateRestoreCallback;
import org.apache.kafka.streams.processor.StateRestoreCallback;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.TimestampedBytesStore;
import org.jspecify.annotations.Nullable;

/**
 * What all kinds of state store do: open and close, commit, restore, answer queries.
 *
 * <p>Thread rule: the thread of the task writes, restores, commits and closes; any thread may read
 * and query.
 */
abstract class AbstractStore implements StateStore {
  /** {@code QueryConfig.getIsolationLevel}; null before Kafka 4.4. */
  private static final @Nullable MethodHandle QUERY_LEVEL = queryLevel();

  private final String name;
  private volatile @Nullable StateTree tree;
  private @Nullable StateStoreContext context;
  private Position lastPosition = Position.emptyPosition();

  AbstractStore(String name) {
    this.name = name;
  }

  /** A record of the changelog. */
  record Restored(byte[] key, byte @Nullable [] value, long timestamp) {}

  @Override
  public String name() {
    return name;
  }

  @Override
  public void init(StateStoreContext stateStoreContext, StateStore root) {
    StateTree opened = StateTree.open(name, layout() + formatOfValues(), stateStoreContext);
    try {
      context = stateStoreContext;
      lastPosition = opened.position();
      StateRestoreCallback restoring = restoring(opened, stateStoreContext);
      onOpen(opened, stateStoreContext, root);
      tree = opened;
      if (root != null) {
        stateStoreContext.register(root, restoring);
      }
    } catch (RuntimeException | Error e) {
      close();
      opened.close();
      throw e;
    }
  }

  /** What the keys of its entries are: those of one layout can't be read as those of another. */
  abstract String layout();

  private String formatOfValues() {
    if (this instanceof HeadersBytesStore) {
      return ", values with headers";
    }
    return this instanceof TimestampedBytesStore ? ", values with timestamps" : "";
  }

  /**
   * Called before the first read or write.
   *
   * @param root what Kafka has wrapped this in
   */
  void onOpen(StateTree opened, StateStoreContext stateStoreContext, @Nullable StateStore root) {}

  private StateRestoreCallback restoring(StateTree opened, StateStoreContext of) {
    try {
      return KafkaInternals.restoring(this, opened, of.appConfigs());
    } catch (LinkageError e) {
      if (needsTimestamps()) {
        throw new InvalidStateStoreException(
            "Store " + name + " is versioned, and this Kafka does not tell it the times of records",
            e);
      }
      return new PlainRestore(this);
    }
  }

  /** Whether the times of restored records matter. */
  boolean needsTimestamps() {
    return false;
  }

  /** Restores by Kafka's public interface, which does not tell times. */
  private record PlainRestore(AbstractStore store) implements BatchingStateRestoreCallback {
    @Override
    public void restoreAll(Collection<KeyValue<byte[], byte[]>> records) {
      List<Restored> restored = new ArrayList<>(records.size());
      records.forEach(record -> restored.add(new Restored(record.key, record.value, -1)));
      store.restoreAll(restored);
    }
  }

  /** Takes over records of the changelog, in their order. */
  abstract void restoreAll(List<Restored> records);

  /**
   * The open tree.
   *
   * @throws InvalidStateStoreException if the store is closed
   */
  StateTree tree() {
    StateTree opened = tree;
    if (opened == null) {
      throw new InvalidStateStoreException("Store " + name + " is currently closed");
    }
    return opened.isLeftBehind() ? reopened() : opened;
  }

  /** The tree in the store that was opened since the one that it was in has failed. */
  private synchronized StateTree reopened() {
    StateTree opened = tree;
    if (opened == null) {
      throw new InvalidStateStoreException("Store " + name + " is currently closed");
    }
    if (opened.isLeftBehind()) {
      opened = opened.reopen();
      tree = opened;
    }
    return opened;
  }

  /** Notes how far the input has come; under the position's monitor, with what it wrote. */
  void advancePosition(StateTree opened) {
    StateStoreContext of = context;
    Optional<RecordMetadata> metadata = of == null ? Optional.empty() : of.recordMetadata();
    if (metadata.isPresent() && metadata.get().topic() != null) {
      RecordMetadata record = metadata.get();
      opened.position().withComponent(record.topic(), record.partition(), record.offset());
    }
  }

  @Override
  public void commit(Map<TopicPartition, Long> changelogOffsets) {
    if (tree != null) {
      tree().commit(changelogOffsets);
    }
  }

  @Override
  public @Nullable Long committedOffset(TopicPartition partition) {
    return tree().committedOffset(partition);
  }

  @Deprecated
  @Override
  public boolean managesOffsets() {
    return true;
  }

  /** Bytes written that Kafka has not committed; Kafka 4.4 asks for them. */
  public long approximateNumUncommittedBytes() {
    StateTree opened = tree;
    return opened == null ? 0 : opened.heldBytes();
  }

  @Override
  public void close() {
    StateTree opened;
    synchronized (this) {
      opened = tree;
      tree = null;
    }
    if (opened != null) {
      opened.close();
    }
  }

  @Override
  public boolean persistent() {
    return true;
  }

  @Override
  public boolean isOpen() {
    StateTree opened = tree;
    return opened != null && opened.isOpen();
  }

  @Override
  public Position getPosition() {
    return lastPosition;
  }

  /**
   * The answer to a query; null if this kind of store has none.
   *
   * @param committed whether to leave out what Kafka has not committed
   */
  abstract @Nullable QueryResult<?> answer(Query<?> query, boolean committed);

  @Override
  @SuppressWarnings("unchecked")
  public <R> QueryResult<R> query(Query<R> query, PositionBound positionBound, QueryConfig config) {
    long began = config.isCollectExecutionInfo() ? System.nanoTime() : 0;
    StateTree opened = tree();
    StateStoreContext of = Objects.requireNonNull(context);
    QueryResult<R> result;
    boolean committed = isCommittedOnly(config);
    synchronized (opened.position()) {
      Position position = committed ? opened.committedPosition() : opened.position();
      int partition = of.taskId().partition();
      if (!reaches(position, positionBound.position(), partition)) {
        result = QueryResult.notUpToBound(position, positionBound, partition);
      } else {
        result = (QueryResult<R>) answered(query, committed);
      }
      result.setPosition(position.copy());
    }
    if (config.isCollectExecutionInfo()) {
      result.addExecutionInfo(
          "Handled in " + getClass() + " in " + (System.nanoTime() - began) + "ns");
    }
    return result;
  }

  private QueryResult<?> answered(Query<?> query, boolean committed) {
    try {
      QueryResult<?> answer = answer(query, committed);
      return answer == null ? QueryResult.forUnknownQueryType(query, this) : answer;
    } catch (RuntimeException e) {
      return QueryResult.forFailure(
          FailureReason.STORE_EXCEPTION,
          getClass() + " failed to handle query " + query + ": " + e);
    }
  }

  /** Kafka 4.4 says in the configuration of a query what it may see. */
  private static boolean isCommittedOnly(QueryConfig config) {
    if (QUERY_LEVEL == null) {
      return false;
    }
    try {
      return isCommittedOnly((IsolationLevel) QUERY_LEVEL.invokeExact(config));
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private static @Nullable MethodHandle queryLevel() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(
              QueryConfig.class, "getIsolationLevel", MethodType.methodType(IsolationLevel.class));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /** Whether a level leaves out what Kafka has not committed. */
  static boolean isCommittedOnly(IsolationLevel level) {
    return level == IsolationLevel.READ_COMMITTED;
  }

  private static boolean reaches(Position position, Position bound, int partition) {
    for (String topic : bound.getTopics()) {
      Long wanted = bound.getPartitionPositions(topic).get(partition);
      Long seen = position.getPartitionPositions(topic).get(partition);
      if (wanted != null && (seen == null || seen < wanted)) {
        return false;
      }
    }
    return true;
  }
}
