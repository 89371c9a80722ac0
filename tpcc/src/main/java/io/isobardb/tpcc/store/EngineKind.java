package io.isobardb.tpcc.store;

import java.util.Locale;

/** The engines known here. */
public enum EngineKind {
  /** Isobar's transactions. */
  ISOBAR {
    @Override
    TpccStore open(StoreSpec spec) {
      return IsobarStore.open(spec);
    }
  },
  /** RocksDB's TransactionDB or OptimisticTransactionDB. */
  ROCKSDB {
    @Override
    TpccStore open(StoreSpec spec) {
      return RocksStore.open(spec);
    }

    @Override
    public void check(Isolation isolation) {
      if (isolation == Isolation.SERIALIZABLE) {
        throw new IllegalArgumentException(
            "rocksdb does not exclude phantoms, so it has no serializable transactions;"
                + " use snapshot, under which this load is serializable");
      }
    }
  };

  /** Opens or creates the store that {@code spec} describes. */
  public static TpccStore openStore(StoreSpec spec) {
    return spec.engine().open(spec);
  }

  abstract TpccStore open(StoreSpec spec);

  /** Refuses, with what to do instead, an isolation the engine does not have. */
  public void check(Isolation isolation) {}

  /** The name on the command line and in reports. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
