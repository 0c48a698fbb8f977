// Package derive makes other files from WARC files: in one pass, by workers, resumable, in bounded memory.
//
// It knows no output format: a Product does, one package each below this one (columns, graph, text, corpus). It does
// not fetch, and it changes no input.
//
//	WARC file --> pass: warc.Reader --> Record --> FileWriter of each Product --> DIR/NAME.tmp --+
//	WARC file --> pass: ...                                                                      | sync, rename,
//	                                                                                             v marker
//	                                                  Product.Finish <-- DIR/NAME, DIR/.done/PRODUCT/FILE.json
//
// Each worker reads one file at a time. All outputs of a file get their names after its last record, and then a marker
// says that they are complete. The next Run makes no output again whose marker is there, if input, outputs and settings
// are the same. What a killed Run left behind is overwritten.
//
// # Promises
//
//   - DV1: an output under its final name is complete.
//   - DV2: the outputs of an interrupted and repeated Run are those of one Run.
//   - DV3: damage in an input costs the damaged record. It is reported with file and offset, and counted. Of what no
//     product reads, only the place is checked: see Costs.
//
// # Ownership
//
// A Record, with everything it returns, belongs to the worker and is valid until FileWriter.Add returns. A FileWriter
// is used by one goroutine at a time, a Product by several.
//
// # Costs
//
// Each worker has memory for a block (Options.BlockMax) and its decoded body, besides the products' own. Blocks are
// read as far as a product needs them, bodies are decoded and scanned for links only if one asks.
//
// If no product needs bodies, and the CDXJ index lies beside a file, the rest of a record is not decompressed. The
// index is believed only where the file agrees: the member ends where the next one begins, contains no start of
// another, and says the size that the header of the record gives. A wrong index costs time and no record.
package derive
