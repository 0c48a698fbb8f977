// Package minhash finds pages whose texts are nearly the same, as FineWeb does: MinHash signatures of shingles, and
// clusters of pages that share a bucket.
//
// It removes nothing, and knows no archive: package derive reads the records, package words makes the shingles.
//
//	text --> shingles of 5 words --> 112 smallest hashes --> 14 buckets of 8 --> DIR/minhash/signatures/NAME.jsonl.gz
//	all signatures --sort by bucket--> pages of one bucket are joined --> DIR/minhash/clusters.jsonl.gz
//
// Two texts whose shingles have the Jaccard similarity s share a bucket with the probability 1-(1-s^8)^14: 0.05 for
// s = 0.5, 0.56 for 0.7, 0.92 for 0.8, 0.9996 for 0.9. A cluster is a connected component: its pages need not all
// resemble each other.
//
// The parameters are FineWeb's: 5, 14, 8, and hashes of 64 bits. The hash functions are others: a*x+b modulo 2^64, with
// an odd a. So values cannot be compared with those of datatrove. A bucket is written as one hash of its 8 values. A
// text of fewer than 5 words has no buckets, and is in no cluster.
//
// # Ownership
//
// A Product may be used by several goroutines, a Signer and a writer by one.
//
// # Costs
//
// Signatures: about 0.1 us a word. The sort of buckets takes Options.Memory, and 336 bytes a page on disk. Clusters
// take 8 bytes of memory a page. Signatures are read twice.
package minhash
