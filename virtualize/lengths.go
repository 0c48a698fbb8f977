package virtualize

// firstLengths is the model of the first segment, one hexadecimal digit per length. A row describes what follows a
// byte: the end of the item, another byte, a copy, or a visible character from ! to ~. It was counted in the paths of
// 15 329 URLs of the open web (docs/adr/0013). The last two rows are estimates: the number of shared bytes, and the
// length of a copy.
const firstLengths = "" +
	"695bbbbbbbbbbbb7759999a9a9aabbb9bbbbbbbbbbbbbbbbbbbbb9bbbbbbbbbbb8b85458659597453959343668767bbbb" + // a
	"695bbbbaabbbbbb7438888899888bab7bababbbbbbbbbbbbbbbbbbbbbbbbbbbbb8b3778489846938749b4584ab86abbbb" + // b
	"595bbbbbbbbbbbb6649988999998bbb8babbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb8b486747635b456937b54457ab7bbbbb" + // c
	"595bbbb99bbbbab5648897998999bab5bab9bbbbbbbbbbbbbbabbbbbbbbbbbbbb7b477725594a977739b557678a7bbbbb" + // d
	"695bbbba8bb9bab554999aaaaaaaabb7b9bbbbbbbbbbbbbbbbbbbabbbbbbbbbbb6b56456669769554868334766579bbbb" + // e
	"495bbbb98bbbbbb5648678787888bab7babbbbbbbabbbbbbbbbbbbbbbbbbbbbab7b4757448b3ba46a49b5545baa6bbbbb" + // f
	"595bbbbb9bb6bbb55399bbabbbbbbbb8b7bbbbbbbbbabbbbbbbbabbbbbbbbbbbb7b68683a763bb57537b5675b9b74bbbb" + // g
	"594bbbb9abbbbbb564a9aabbababbbb6b8babbbbbbbbbbbbbbbbbbbbbbbbbbbbb7b49883bab4b867845b6824b9b7bbbbb" + // h
	"695bbbbbbbbbbbb674bbbbbbbbbbbbbbb8bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbab6545565a9a555345b63386b8b8bbbb" + // i
	"695bbbbbbbbbbbb887aa9abbb9bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb498838885798774678176878bbbbbb" + // j
	"595bbbbb9baabbb653a99abbbb8bbbb8b9bbb9babbabbbbbbb9bba9bbbbbbbbbb7b489734473885875696465a9a6abbbb" + // k
	"395bbbbaabbbbbb664baabb9bbbbbbb8b7bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb7b388639893b948838b95668ab6abbbb" + // l
	"495bbbbbabbbbbb664bbabbbabbbbbb9b9bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb8b36863a994bb25954b968789b8bbbbb" + // m
	"595bbbb9abbabab564a988bbbbbbbbb8babbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb6b4854463a5a7677459943589a8abbbb" + // n
	"695bbbbaabbbbbb565b9bbbbbbbbbbb9babbbabbbbbbbbbbbbbbbbbbbbbbbbbbb9b6544965987644355b35556589bbbbb" + // o
	"695bbbbbbbbbbbb6759a8aaabbbb8bb8b6bbbabbbbbbbbbbbbbbbbbbbbbbbbbbb9b497537754a645845b3554aa85bbbbb" + // p
	"595bbbbbbbbbbab654b9b999bb99bbb4b9bbbbbbbbbbbbbabbaaaabbabaabbbab8b5b77889879b58898a64719899abbbb" + // q
	"695bbbba9bb9bbb664aaaaabbbbbabb8b9bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb7b385636694b665637b644679b5abbbb" + // r
	"595bbbb9abbbbbb552ba9bbbbbbb6bb9b9bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb7b695849954b8678559743569b7bbbbb" + // s
	"595bbbbaabbbbbb564a99bbabbbbb9b8b9babbbbbbbbbbbbbbbbbabbbbbbbbbbb7b496838643b973946b5556b7769bbbb" + // t
	"695bbbbbbbbbbbb897bbbbbbbbbbbbbabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbab5357366b5b845486b33488b6b8bbbb" + // u
	"695bbb9b9bbbbbb6645558898a6abbb7bbbbbbbbbbbbbbbbbbbbabbbbbbbbbbbb9b48772b3a3ba87868b85669aa9bbbbb" + // v
	"695bbbb89bbbbbb655b9aabbbbbbbbb8b9baa9bbbbbbbbbbbabbbbbbbbbbbbbbb6b4a8749652a878537b636a95b9bbbbb" + // w
	"495bbbba8ab9b9a433987aaa7b8bbbb8b7bba7b9aba9bbabb7aba9bbbbbbbbbbb6b586758a55a984874b86379a777bbbb" + // x
	"595bbbb99bbbbab4429a9bbbbbbbbbb6b8b99abbbababbabbbbba9bbbbbbbbbbb6b5868697889b555639744878b98bbbb" + // y
	"195abbbb9ababab7748a798abaaaabb8b8babbbbbbbbbbbbbbbbb9bbbbbbbbbbb7b599949b74b978757b7596a8886bbbb" + // z
	"594bbbb9bbbbbab7b77667899999bbbbb997978999999a88997b8789a9bbbbbbbab45445646577555748555665798bbb8" + // /
	"794bbbbabbbbbbbab45556678878bbbbbbb8889aa9a9ab98a99a9898bbbbbbbbb9b5545655657855664854556689abbbb" + // -
	"794bbbbbbbbbbbbb694456777888bbbbbbbbbbbbbbabbbbbbbbbbbabbbbbbbbbbbb6947885276b96864b744879678bbbb" + // .
	"794bbbb9bb7bbbba9965689a8898bbbabbb6768777869a79977a868989abbbbbb8b454555564986655585456679b9bbbb" + // _
	"794bbbb77abbbbb9976355566677abbbbbb586a998788b978a6b78789aabbabbbab5556655778764785955677689bbbbb" + // =
	"594bbbb98abbbbbbb9bbbbbbbbbbbbbabbbba7aab898bbbbba8995abbbbbbbbbb6b4654654659936785454456799bbbbb" + // &
	"794bbbb77bbbbbbbb888abbbbbbbbbbbb5b7997b9ab8bb8a7ba7a7abbbbbbbbbb8b544675774b955574463465887abbbb" + // ?
	"794bbbb8bb7bbbbbb96b1386b656bbbbbbb657659abbbbbbbbbbbbbbbbbbbabbbbb99969bababbaaaaaba69b7babbbbbb" + // %
	"495bbbb87bbabb85344444444554bbbab9b8aa9a8bbbbbbbbbbbbbbbbbbbbbbbb7b777777aaabbaaababaaabababbbbbb" + // 0 to 9
	"695bbbb78bbbbab6647778989989abb8bab5756567759866666865687989abbbb6b477849975a96754695775a987abbbb" + // A to Z
	"695abbb8683778787366678989a988bbba88a89b9899ab8aa98ba99abbbbb7b3b9b6766766377966786a6669679abbbbb" + // any other byte
	"8853266666666666444545566778889aaabbbbbbbbbbbbbb" + // shared
	"3334444455555666556779aabbbbbbbbbbbbbbbbbbbbbbbb" // copied
