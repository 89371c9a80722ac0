package io.isobardb.kafka;

import org.apache.kafka.streams.DslStoreFormat;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.state.DslKeyValueParams;
import org.apache.kafka.streams.state.DslSessionParams;
import org.apache.kafka.streams.state.DslStoreSuppliers;
import org.apache.kafka.streams.state.DslWindowParams;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts the state stores that the DSL makes on Isobar. A configuration names it:
 *
 * <pre>{@code
 * dsl.store.suppliers.class=io.isobardb.kafka.IsobarDslStoreSuppliers
 * }</pre>
 *
 * <p>Options that begin with {@code isobar.} are those of the store; {@code isobar.streams.dir}
 * says where it lies.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class IsobarDslStoreSuppliers implements DslStoreSuppliers {
  /** Kafka makes one by its name. */
  public IsobarDslStoreSuppliers() {}

  @Override
  public KeyValueBytesStoreSupplier keyValueStore(DslKeyValueParams params) {
    return IsobarStores.keyValues(params.name(), format(params.dslStoreFormat()));
  }

  @Override
  public WindowBytesStoreSupplier windowStore(DslWindowParams params) {
    boolean onClose = isOnClose(params.emitStrategy());
    IsobarStores.Format format =
        params.dslStoreFormat() == null
            ? IsobarStores.Format.TIMESTAMPED
            : format(params.dslStoreFormat());
    return IsobarStores.windows(
        params.name(),
        params.retentionPeriod(),
        params.windowSize(),
        params.retainDuplicates(),
        onClose,
        format);
  }

  @Override
  public SessionBytesStoreSupplier sessionStore(DslSessionParams params) {
    return IsobarStores.sessions(
        params.name(),
        params.retentionPeriod(),
        isOnClose(params.emitStrategy()),
        params.storeFormat() == null ? IsobarStores.Format.PLAIN : format(params.storeFormat()));
  }

  private static boolean isOnClose(@Nullable EmitStrategy strategy) {
    return strategy != null && strategy.type() == EmitStrategy.StrategyType.ON_WINDOW_CLOSE;
  }

  private static IsobarStores.Format format(DslStoreFormat format) {
    return switch (format) {
      case PLAIN -> IsobarStores.Format.PLAIN;
      case TIMESTAMPED -> IsobarStores.Format.TIMESTAMPED;
      case HEADERS -> IsobarStores.Format.HEADERS;
    };
  }
}
