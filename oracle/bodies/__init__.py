"""Kinematics of a mechanism: its bodies, joints and beams."""
