package io.isobardb.bench.model;

/** The designs that can be modelled. */
enum Design {
  LEVELDB,
  UNIVERSAL,
  COLA,
  SAMT
}
