// Package operator is what an operator asks of a running crawl, and changes in it.
//
// An Operator has the parts of the crawl. Engine.Operator gives it out; engine/operate/control serves it over HTTP. A
// new action is a method here. A new question is a row of questions, with a package that answers it. Package engine
// needs no line for either.
//
//	ctl hosts, queue -> control -> Operator.AnswerQuestion -> hosts.Lister
//	dry run of rules -> control -> Operator.AnswerQuestion -> hosts.Lister
//	ctl seeds        -> control -> Operator.AnswerQuestion -> logreport.ListSeeds, hosts.Lister
//	doctor           -> control -> Operator.AnswerQuestion -> doctor.Diagnose
//	explain          -> control -> Operator.AnswerQuestion -> explain.Source -> cluster.URLQuestions: the owner is asked
//	explain of another agent    -> cluster.URLQuestions    -> Operator.answerAgent -> explain.Source
//	ctl active       -> control -> Operator.AnswerQuestion -> underway.Table
//	ctl add  -> control -> Operator.AddURLs -> admission.Injector -> a checkpoint
//	ctl rule -> control -> Operator.HostRule -> settings.HostRules.Add, schedule.Distributor.Purge
//	ctl set, undo -> control -> Operator.Settings -> changes.Settings
//
// All methods are safe for concurrent use.
package operator
