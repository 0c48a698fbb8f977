// Package fasttext reads supervised models of fastText, and predicts the labels of a text as fastText does: models of
// language identification such as lid.176.bin, lid.176.ftz and GlotLID. Languages is such a model.
//
// It does not train, and it has no model of its own. It reads the files of versions 11 and
// 12, plain (.bin) and quantised (.ftz), with each loss function of supervised models.
//
//	file --> Open: arguments, dictionary, rows of input and output --> Model --> Predictor, one for each goroutine
//	text --> words --> rows of each word, of its character n-grams and of word n-grams --> mean (hidden) --> labels
//
// Layout of a file, numbers in little-endian order: the magic number and the version; 12 arguments and one float; the
// dictionary, words first, then labels; pairs of n-gram and row, if the model was pruned; the input matrix, dense or
// product-quantised; the output matrix.
//
// # Promises
//
//   - FT1: label and score are those of fastText within 0.0001, for each kind of model.
//   - FT2: whatever a file says, Open and Predict do not panic. Their memory is at most some 5 times the file, and the
//     time of Open grows with the length of the file.
//
// # Languages
//
//	text --first 8 KiB--> Predictor --label--> Main: code, script and score
//	     --parts of 1 to 2 KiB at line ends--> the same for each --> Parts: ISO 639-3 codes by their share of the text
//
// Labels are codes of ISO 639-1 or 639-3, with the script after an underscore in some models. They are kept as they
// are, so that they can be compared with those of other pipelines. A part of a text counts if its score is at least
// 0.5. Parts is empty if no part does.
//
// # Ownership
//
// A Model keeps the bytes that Open gets, and reads its rows there: they may be a mapped file. It is not changed after
// Open, so goroutines may share it. A Predictor and a detector of Languages belong to one goroutine.
//
// # Costs
//
// A Predictor keeps the sums of recent words, some 1 MiB. Without them each n-gram costs a row of the input matrix.
package fasttext
