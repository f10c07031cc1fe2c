#!/bin/bash
# A rank of one, which broadcasts to itself. With "spoil" it gets the first of 5 elements wrong; with "variable" it does
# if SPOIL is set to "yes", and fails at the start if SPOIL is "start". With "stop" it can gather, too, and has collgen
# interrupted by a signal at the third call of that; REPORT, if set, is a file that it copies before.
gathers=0
echo "collgen-conform 1"
echo "rank $1 of $2"
echo "name a shell"
echo "types int8"
echo "most 5000"
echo "primitive Broadcast apart"
[ "$3" != stop ] || echo "primitive Gather apart"
[ "$SPOIL" != start ] || exit 9
echo "ready"
while read -r word primitive _ _ _ _ _ _ in_at counts out_at _ _ memory && [ "$word" = call ]; do
	data=${memory:in_at*2:counts*2}
	if [ "$counts" = 5 ] && { [ "$3" = spoil ] || [ "$3 $SPOIL" = "variable yes" ]; }; then
		data=ff${data:2}
	fi
	[ "$primitive" != Gather ] || gathers=$((gathers + 1))
	if [ "$3 $primitive $gathers" = "stop Gather 3" ]; then
		[ -z "$REPORT" ] || cp "$REPORT" "$REPORT.copy"
		kill -TERM $PPID
	fi
	echo "done ${memory:0:out_at*2}$data${memory:(out_at+counts)*2}"
done
