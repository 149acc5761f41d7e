#!/bin/sh
# What each worker of the job runs: as many processes as it has GPUs on its node.
gpus=$(echo "$ALLOT_ACCESSIBLE_GPUS" | tr , '\n' | wc -l)
exec "${PYTHON:-python3}" -m allot_elastic.torchrun --nnodes="$ALLOT_WORLD_SIZE" --node_rank="$ALLOT_RANK" --nproc_per_node="$gpus" \
  --master_addr="$ALLOT_MASTER_ADDR" --master_port="$ALLOT_MASTER_PORT" "$(dirname "$0")/train.py" \
  --checkpoint "$ALLOT_RUN_DIR/checkpoint" "$@"
