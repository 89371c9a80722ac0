package io.isobardb.tpcc.store;

import io.isobardb.tpcc.schema.Table;

/** One row to be written by {@link TpccStore#load}. */
public record Put(Table table, byte[] key, byte[] value) {}
