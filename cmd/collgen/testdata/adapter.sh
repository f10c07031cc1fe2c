#!/bin/bash
# A rank of one, which broadcasts to itself. With "spoil" it gets the first of 5 elements wrong.
echo "collgen-conform 1"
echo "rank $1 of $2"
echo "name a shell"
echo "types int8"
echo "most 5000"
echo "primitive Broadcast apart"
echo "ready"
while read -r word _ _ _ _ _ _ _ in_at counts out_at _ _ memory && [ "$word" = call ]; do
	data=${memory:in_at*2:counts*2}
	if [ "$3" = spoil ] && [ "$counts" = 5 ]; then
		data=ff${data:2}
	fi
	echo "done ${memory:0:out_at*2}$data${memory:(out_at+counts)*2}"
done
