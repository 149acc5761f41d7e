#!/bin/bash
# sbatch --gres=gpu:2 --comment 'allot min=1 max=8 gpus=2 resize=restart' train.sh trainer.py --epochs 3
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
srun --kill-on-bad-exit=1 --nodes="$SLURM_NNODES" --ntasks-per-node=1 --gres=gpu:"$SLURM_GPUS_ON_NODE" \
  torchrun --nnodes="$SLURM_NNODES" --nproc_per_node="$SLURM_GPUS_ON_NODE" --rdzv_id="$SLURM_JOB_ID" --rdzv_backend=c10d \
  --rdzv_endpoint="$(hostname):$port" "$@"
