package io.isobardb.bench.model;

/** The designs that can be modelled. */
enum Design {
  ISOBAR,
  LEVELDB,
  UNIVERSAL,
  COLA,
  SAMT
}
